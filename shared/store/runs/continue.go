package runs

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/sessions"
)

// ofContinuation returns fault.Conflict if a write is not by the current worker of
// the active run, which must be the one that the reference names.
func ofContinuation(h *sessions.Header, ref run.Ref) error {
	number := 0
	if h.Continued != nil && h.Continued.Run == h.Run {
		number = h.Continued.Number
	}
	if ref.Continuation != number {
		return run.SupersededFault(ref)
	}
	return nil
}

// grace returns for how many milliseconds after the end of its lease a run waits to
// be continued.
func (s *reader) grace(a *ActiveRun) int64 {
	if a.Continuation >= a.Continuations {
		return 0
	}
	return run.ContinuationGrace * s.lease.Milliseconds()
}

// isLost reports whether a run's worker was lost and none may continue the run any
// more.
func (s *reader) isLost(a *ActiveRun) bool { return s.Millis() >= a.Lease+s.grace(a) }

// continuationEntry is the hidden entry with which another worker continues a run.
func (s *reader) continuationEntry(ctx context.Context, h *sessions.Header, head eventlog.Head, r run.Run) (*eventlog.Record, error) {
	e, err := s.runEvent("run_continued", r, head.Next, max(s.Millis(), head.Time))
	if err != nil {
		return nil, fmt.Errorf("encode run %s: %w", r.ID, err)
	}
	return s.hiddenEntry(ctx, h, head, e, func(*eventlog.Entry) {})
}

// saidAfter reads the events that a run has stored after its input, without those
// that other callers have appended with the same invocation. While a run is active the
// session cannot be rewound, so all of them are effective.
func (s *reader) saidAfter(ctx context.Context, h *sessions.Header, input *eventlog.Record, a *ActiveRun) ([]session.Event, error) {
	var out []session.Event
	err := s.logs.Scan(ctx, h.Log, input.Last()+1, 0, func(r *eventlog.Record) (bool, error) {
		if r.Hidden || r.InProgress() || !r.OfRun && !r.Streamed {
			return true, nil
		}
		for _, e := range r.Events {
			if e.InvocationID == a.ID {
				e.SessionID = h.ID()
				out = append(out, e)
			}
		}
		return true, nil
	})
	return out, err
}
