package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Claim implements run.Store.
func (s *Store) Claim(ctx context.Context, ref run.Ref, by run.Claimant) (r run.Run, err error) {
	err = records.SettledBriefly(ctx, func() (err error) {
		r, err = s.claim(ctx, ref, by)
		return err
	})
	return r, err
}

// claim tries once; table.ErrConditionFailed if the run that it would take over has
// changed concurrently.
func (s *Store) claim(ctx context.Context, ref run.Ref, by run.Claimant) (run.Run, error) {
	h, head, a, err := s.ReadSettled(ctx, ref.UserID, ref.SessionID)
	if err != nil {
		return run.Run{}, err
	}
	if a == nil || a.ID != ref.RunID {
		return run.Run{}, s.stillActive(ctx, h, ref)
	}
	switch {
	case a.Worker == "" || a.Worker == by.Worker:
		err = s.claimFree(ctx, h, a, by)
	case s.Millis() < a.Lease:
		err = claimedFault(ref)
	default:
		r, err := s.takeOver(ctx, h, head, a, by)
		return r, s.sessions.NotFoundIfDeleted(ctx, h, err)
	}
	return a.Run(), err
}

func claimedFault(ref run.Ref) error {
	return fault.New(fault.Superseded, "another worker executes the run").With("run_id", ref.RunID)
}

// claimFree claims a run that no worker has claimed, or this worker before.
func (s *Store) claimFree(ctx context.Context, h *sessions.Header, a *ActiveRun, by run.Claimant) error {
	worker := table.Path{activeWorker}
	changes := []table.Change{
		table.Set(worker, by.Worker), table.Set(table.Path{activeLease}, s.Millis()+s.lease.Milliseconds()),
	}
	changes = append(changes, traced(by.Trace)...)
	if may := by.May(a.Agent); may > 0 && a.Worker == "" {
		changes = append(changes, table.Set(table.Path{activeContinuations}, may))
	}
	err := s.DB.Update(ctx, keys.RunKey(h.Log), changes,
		isRun(a), table.Or(table.NotExists(worker), table.Equal(worker, by.Worker)))
	if errors.Is(err, table.ErrConditionFailed) {
		return claimedFault(a.ref())
	}
	return err
}

// traced returns the change that names the trace of a worker, if it has one.
func traced(trace string) []table.Change {
	if trace == "" {
		return nil
	}
	return []table.Change{table.Set(table.Path{activeTrace}, trace)}
}

// takeOver continues a run whose worker was lost, in one transaction. The hidden
// entry is at the very position that the lost worker would write to next, and the
// item in progress is final and closed to deltas. So the lost worker, if it still
// lives, cannot write without reading that it has been replaced. All it has stored
// stays: if it writes before, the transaction fails.
func (s *Store) takeOver(ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun, by run.Claimant) (run.Run, error) {
	writes, _, err := s.endItem(ctx, h, head, a, runEnd{
		status: run.Failed, problem: run.NewProblem(run.CodeInterrupted, "the worker was lost; the run continues"),
	})
	if err != nil {
		return run.Run{}, err
	}
	next := *a
	next.Continuation++
	next.Trace = cmp.Or(by.Trace, a.Trace)
	fence, err := s.continuationEntry(ctx, h, head, next.Run())
	if err != nil {
		return run.Run{}, err
	}
	err = s.DB.Transact(ctx, append(writes,
		table.Put(fence.Entry, table.ItemNotExists()),
		table.Update(keys.RunKey(h.Log), append(traced(by.Trace),
			table.Set(table.Path{activeWorker}, by.Worker),
			table.Set(table.Path{activeLease}, s.Millis()+s.lease.Milliseconds()),
			table.Set(table.Path{activeContinuation}, next.Continuation),
		), isRun(a), table.Equal(table.Path{activeWorker}, a.Worker), table.Equal(table.Path{activeLease}, a.Lease)),
		table.Update(keys.SessionKey(h.ID()), []table.Change{
			table.Set(table.Path{sessions.HeaderContinued}, sessions.Continued{Run: a.ID, Number: next.Continuation}),
		}, h.SameLog(), table.Equal(table.Path{sessions.HeaderRun}, a.ID)),
	)...)
	if err != nil {
		return run.Run{}, fmt.Errorf("take over run %s: %w", a.ID, err)
	}
	s.logs.CountEntry(ctx, h.OfLog(), fence)
	return next.Run(), nil
}

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
