package agui

import (
	"context"
	"errors"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/agui/aguiconvert"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// postRun runs an agent and streams the run.
func (s *server) postRun(w http.ResponseWriter, r *http.Request, agent string) error {
	in, err := readInput(w, r)
	if err != nil {
		return err
	}
	return s.WithLease(r.Context(), func(ctx context.Context) error {
		b := &frontend.Beginning{Server: s.Server, Agent: agent, In: in.Input}
		b.Resolve = func(_ session.Session, h conversation.History, _ bool) (out conversation.Input, err error) {
			out = in.Input
			out.RunID, err = in.ContinuedID(h)
			return out, err
		}
		out, err := b.Begin(ctx)
		if runID, busy := frontend.Busy(err); busy {
			s.sendOnly(ctx, w, in.Old, aguiconvert.RunError(
				aguiconvert.CodeBusy, "Another run of the thread is in progress: "+runID, map[string]any{"run_id": runID}))
			return nil
		}
		if err != nil {
			return err
		}
		if out.Ref.RunID == "" {
			return s.sendNothing(ctx, w, in, out)
		}
		s.sendRun(ctx, w, out, in.Old, in.Results())
		return nil
	})
}

// sendNothing answers a request without anything new: no run begins.
func (s *server) sendNothing(ctx context.Context, w http.ResponseWriter, in aguiconvert.Input, out frontend.Begun) error {
	state, err := s.state(ctx, out.Ref, out.AsGuest)
	if err != nil {
		return err
	}
	thread := out.Before.Thread()
	if !thread.Ended() {
		if err := s.Whole(ctx, &out); err != nil {
			return err
		}
		thread = out.Before.Thread()
	}
	last, err := s.lastRun(ctx, out.Ref, thread)
	if err != nil {
		return err
	}
	s.sendOnly(ctx, w, in.Old, aguiconvert.RunStarted(in.SessionID, in.RunID), aguiconvert.StateSnapshot(state),
		aguiconvert.Finished(thread, in.SessionID, in.RunID, last.Status == run.Completed))
	return nil
}

// lastRun returns the run that a thread's last event belongs to; without an ID if that
// belongs to none.
func (s *server) lastRun(ctx context.Context, ref run.Ref, thread *conversation.Thread) (run.Run, error) {
	events := thread.Events()
	if len(events) == 0 {
		return run.Run{}, nil
	}
	ref.RunID = events[len(events)-1].InvocationID
	r, err := s.Runs.Run(ctx, ref)
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return run.Run{}, nil
	}
	return r, err
}

func (s *server) state(ctx context.Context, ref run.Ref, guest bool) (*conversation.State, error) {
	if ref.UserID == "" { // a session that was not created
		return conversation.NewState(session.Values{}, guest), nil
	}
	state, err := s.Sessions.State(ctx, ref.UserID, ref.SessionID)
	if err != nil {
		return nil, err
	}
	return conversation.NewState(state.Merged, guest), nil
}

// postConnect is getThread for clients that send RunAgentInput.
func (s *server) postConnect(w http.ResponseWriter, r *http.Request, _ string) error {
	in, err := readInput(w, r)
	if err != nil {
		return err
	}
	return s.connect(w, r, in.SessionID, in.Old)
}

// getThread streams what a thread shows and, if a run is in progress, the run from its
// beginning to its end.
func (s *server) getThread(w http.ResponseWriter, r *http.Request, _ string) error {
	return s.connect(w, r, frontend.PathParameter(r, "thread_id"), false)
}

func (s *server) connect(w http.ResponseWriter, r *http.Request, id string, old bool) error {
	if err := ids.Check("threadId", id); err != nil {
		return err
	}
	return s.WithLease(r.Context(), func(ctx context.Context) error {
		of, p, err := s.ReadSession(ctx, id, access.Watch)
		if err != nil {
			return err
		}
		out, err := s.Active(ctx, of, p.Guest())
		if err == nil {
			err = s.Whole(ctx, &out)
		}
		if err != nil {
			return err
		}
		if out.Ref.RunID != "" {
			s.sendRun(ctx, w, out, old, nil)
			return nil
		}
		return s.sendThread(ctx, w, out, old)
	})
}

// sendThread sends a thread without a run in progress: its messages, its state and how
// its last run ended.
func (s *server) sendThread(ctx context.Context, w http.ResponseWriter, out frontend.Begun, old bool) error {
	state, err := s.state(ctx, out.Ref, out.AsGuest)
	if err != nil {
		return err
	}
	ref, thread := out.Ref, out.Before.Thread()
	last, err := s.lastRun(ctx, ref, thread)
	if err != nil {
		return err
	}
	var end aguiconvert.Event
	switch events := thread.Events(); {
	case last.ID != "":
		ref.RunID, end = last.ID, aguiconvert.Outcome(thread, last)
	case len(events) > 0:
		ref.RunID = events[len(events)-1].InvocationID
	default:
		ref.RunID = s.NewID()
	}
	if end == nil {
		end = aguiconvert.Finished(thread, ref.SessionID, ref.RunID, false)
	}
	if err := s.Recheck(ctx, ref.UserID, ref.SessionID); err != nil {
		return err
	}
	s.sendOnly(ctx, w, old,
		aguiconvert.RunStarted(ref.SessionID, ref.RunID), aguiconvert.MessagesSnapshot(aguiconvert.Messages(thread)), aguiconvert.StateSnapshot(state), end)
	return nil
}

// sendRun streams a run from its beginning to its end to a client that may speak a version
// before 1.0. has is the calls whose responses are among the client's messages; nil for a
// client that gets the thread's messages first. The stream's status and head are sent with
// the first event.
func (s *server) sendRun(ctx context.Context, w http.ResponseWriter, b frontend.Begun, old bool, has map[string]bool) {
	out := frontend.NewSender(ctx, w, s.KeepAlive)
	defer out.Close()
	send := func(events []aguiconvert.Event) { sendEvents(out, old, events) }
	var stream *aguiconvert.Stream
	send([]aguiconvert.Event{aguiconvert.RunStarted(b.Ref.SessionID, b.Ref.RunID)})
	frontend.Stream(ctx, s.Server, &b, out.Left, frontend.Protocol[aguiconvert.Event]{
		Send: send, Discarded: aguiconvert.Discarded,
		Begin: func(ctx context.Context, own []session.Event) (frontend.Converter[aguiconvert.Event], error) {
			state, err := s.state(ctx, b.Ref, b.AsGuest)
			if err != nil {
				return nil, err
			}
			before := b.Before.With(own)
			if has == nil {
				send([]aguiconvert.Event{aguiconvert.MessagesSnapshot(aguiconvert.Messages(before.Thread()))})
			}
			send([]aguiconvert.Event{aguiconvert.StateSnapshot(state)})
			if has != nil {
				send(aguiconvert.Answers(before.Thread(), b.Ref.RunID, has))
			}
			stream = aguiconvert.NewStream(before, own, state)
			return stream, nil
		},
		Fail: func(f *fault.Error, broken bool) {
			if stream != nil {
				send(stream.Close())
			}
			send([]aguiconvert.Event{failure(f, broken, b.Ref.RunID)})
		},
	})
}

// failure returns why a stream ends before its run.
func failure(f *fault.Error, broken bool, runID string) aguiconvert.Event {
	if f != nil {
		return aguiconvert.RunError("access_lost", f.Detail, nil)
	}
	text := "The stream ends before its run. Send the same request again to go on."
	if broken {
		text = "The stream failed, its run goes on. Send the same request again to go on."
	}
	return aguiconvert.RunError(aguiconvert.CodeReconnect, text, map[string]any{"run_id": runID})
}

// sendOnly sends events that are a whole stream. old is a client of a version before
// 1.0.
func (s *server) sendOnly(ctx context.Context, w http.ResponseWriter, old bool, events ...aguiconvert.Event) {
	out := frontend.NewSender(ctx, w, s.KeepAlive)
	defer out.Close()
	sendEvents(out, old, events)
}

func sendEvents(out *frontend.Sender, old bool, events []aguiconvert.Event) {
	for _, e := range events {
		if old {
			e = e.ForOld()
		}
		out.Send(e)
	}
}
