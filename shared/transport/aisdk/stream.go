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

// sendRun streams a run from its beginning to its end; with replay from the beginning of
// its message, which may be older than the run.
func (s *server) sendRun(ctx context.Context, w http.ResponseWriter, b frontend.Begun, replay bool) {
	out := s.sender(ctx, w)
	defer out.Close()
	send := func(chunks []aisdkconvert.Chunk) {
		for _, c := range chunks {
			out.Send(c)
		}
	}
	frontend.Stream(ctx, s.Server, &b, out.Left, frontend.Protocol[aisdkconvert.Chunk]{
		Send: send, Discarded: aisdkconvert.Discarded,
		Begin: func(ctx context.Context, own []session.Event) (frontend.Converter[aisdkconvert.Chunk], error) {
			stream, first, err := s.begin(ctx, &b, own, replay)
			send(first)
			return stream, err
		},
		Fail: func(f *fault.Error, broken bool) { send(failure(f, broken, b.Ref.RunID)) },
	})
	out.Done()
}

// begin begins the stream with the first events of the run.
func (s *server) begin(ctx context.Context, b *frontend.Begun, own []session.Event, replay bool) (*aisdkconvert.Stream, []aisdkconvert.Chunk, error) {
	state, err := s.Sessions.State(ctx, b.Ref.UserID, b.Ref.SessionID)
	if err != nil {
		return nil, nil, err
	}
	start := aisdkconvert.Start{
		SessionID: b.Ref.SessionID, RunID: b.Ref.RunID, Before: b.Before.With(own), Included: own,
		State: conversation.NewState(state.Merged, b.AsGuest), Replay: replay,
	}
	stream, first, err := aisdkconvert.NewStream(start)
	if errors.Is(err, conversation.ErrOlder) {
		if err := s.Whole(ctx, b); err != nil {
			return nil, nil, err
		}
		start.Before = b.Before.With(own)
		stream, first, err = aisdkconvert.NewStream(start)
	}
	return stream, first, err
}

// failure returns why a stream ends before its run.
func failure(f *fault.Error, broken bool, runID string) []aisdkconvert.Chunk {
	if f != nil {
		return []aisdkconvert.Chunk{aisdkconvert.Error(f.Detail)}
	}
	text := "The stream ends before its run. Resume it to go on."
	if broken {
		text = "The stream failed, its run goes on. Resume it to go on."
	}
	return []aisdkconvert.Chunk{
		aisdkconvert.Transient(aisdkconvert.DataReconnect, map[string]any{"run_id": runID}), aisdkconvert.Error(text),
	}
}
