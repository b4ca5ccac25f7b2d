package aisdk

import (
	"context"
	"errors"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/aisdk/aisdkconvert"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// postChat runs an agent and streams the run.
func (s *server) postChat(w http.ResponseWriter, r *http.Request, agent string) error {
	body, err := frontend.ReadBody(w, r)
	if err != nil {
		return err
	}
	req, err := aisdkconvert.ParseRequest(body)
	if err != nil {
		return err
	}
	return s.WithLease(r.Context(), func(ctx context.Context) error {
		b := &frontend.Beginning{
			Server: s.Server, Agent: agent, In: conversation.Input{SessionID: req.ID, SessionAt: "/id"}, Resolve: req.Input,
		}
		out, err := b.Begin(ctx)
		if err != nil {
			return err
		}
		if out.Ref.RunID == "" { // nothing new: no run begins
			o := s.sender(ctx, w)
			defer o.Close()
			o.Send(aisdkconvert.Finished(false))
			o.Done()
			return nil
		}
		s.sendRun(ctx, w, out, false)
		return nil
	})
}

// resume streams the run in progress of a session, from the beginning of its message, or
// one that has ended since the messages were read without it; 204 without either.
func (s *server) resume(w http.ResponseWriter, r *http.Request, _ string) error {
	id, err := sessionID(r)
	if err != nil {
		return err
	}
	of, p, err := s.ReadSession(r.Context(), id, access.Watch)
	if errors.Is(err, fault.Of(fault.NotFound)) {
		w.WriteHeader(http.StatusNoContent) // useChat resumes a chat that has no message yet, too
		return nil
	}
	if err != nil {
		return err
	}
	return s.WithLease(r.Context(), func(ctx context.Context) error {
		find := s.Active
		if of.ActiveRunID == nil {
			find = s.Missed
		}
		out, err := find(ctx, of, p.Guest())
		if err != nil {
			return err
		}
		if out.Ref.RunID == "" {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		s.sendRun(ctx, w, out, true)
		return nil
	})
}

func (s *server) sender(ctx context.Context, w http.ResponseWriter) *frontend.Sender {
	w.Header().Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
	return frontend.NewSender(ctx, w, s.KeepAlive)
}

// runStream is the stream of one run.
type runStream struct {
	*server
	frontend.Begun

	replay bool // from the beginning of the message, which may be older than the run
	out    *frontend.Sender
	stream *aisdkconvert.Stream // nil before the first events
}

// sendRun streams a run from its beginning to its end.
func (s *server) sendRun(ctx context.Context, w http.ResponseWriter, b frontend.Begun, replay bool) {
	rs := &runStream{server: s, Begun: b, replay: replay, out: s.sender(ctx, w)}
	defer rs.out.Close()
	r, err := s.Follow(ctx, &rs.Begun, rs.out.Left, rs.update)
	switch {
	case err != nil:
		rs.fail(ctx, err)
	case r.ID != "" && rs.stream == nil: // discarded before its events were read
		rs.send([]aisdkconvert.Chunk{aisdkconvert.Discarded(r)})
	case r.ID != "":
		rs.send(rs.stream.Finish(r))
	}
	rs.out.Done()
}

// update sends what is new in the run's events.
func (rs *runStream) update(ctx context.Context, own []session.Event) error {
	if rs.stream == nil {
		state, err := rs.Sessions.State(ctx, rs.Ref.UserID, rs.Ref.SessionID)
		if err != nil {
			return err
		}
		if err := rs.begin(ctx, own, state); err != nil {
			return err
		}
	}
	chunks, err := frontend.Update(ctx, rs.Server, &rs.Begun, rs.stream, own)
	rs.send(chunks)
	return err
}

// begin begins the stream with the first events of the run.
func (rs *runStream) begin(ctx context.Context, own []session.Event, state session.State) error {
	start := aisdkconvert.Start{
		SessionID: rs.Ref.SessionID, RunID: rs.Ref.RunID, Before: rs.Before.With(own), Included: own,
		State: conversation.NewState(state.Merged, rs.AsGuest), Replay: rs.replay,
	}
	stream, first, err := aisdkconvert.NewStream(start)
	if errors.Is(err, conversation.ErrOlder) {
		if err := rs.Whole(ctx, &rs.Begun); err != nil {
			return err
		}
		start.Before = rs.Before.With(own)
		stream, first, err = aisdkconvert.NewStream(start)
	}
	rs.stream = stream
	rs.send(first)
	return err
}

func (rs *runStream) send(chunks []aisdkconvert.Chunk) {
	for _, c := range chunks {
		rs.out.Send(c)
	}
}

// fail sends why the stream ends before its run.
func (rs *runStream) fail(ctx context.Context, err error) {
	f, broken := rs.Failure(ctx, err)
	if f != nil {
		rs.send([]aisdkconvert.Chunk{aisdkconvert.Error(f.Detail)})
		return
	}
	text := "The stream ends before its run. Resume it to go on."
	if broken {
		text = "The stream failed, its run goes on. Resume it to go on."
	}
	rs.send([]aisdkconvert.Chunk{
		aisdkconvert.Transient(aisdkconvert.DataReconnect, map[string]any{"run_id": rs.Ref.RunID}), aisdkconvert.Error(text),
	})
}
