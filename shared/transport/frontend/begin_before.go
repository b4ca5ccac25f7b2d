package frontend

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// startedBefore reports whether the run of the request exists already. It returns
// fault.Conflict if that has other input, or was rewound.
func (b *Beginning) startedBefore(ctx context.Context, out *Begun, h conversation.History) (bool, error) {
	r, err := b.Runs.Run(ctx, out.Ref)
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)):
		return false, nil
	case err != nil:
		return false, err
	case r.Status == run.Waiting: // its input is not among the events
		out.Before, out.Queued = h, true
		return true, nil
	}
	before, own := h.Split(out.Ref.RunID)
	if len(own) == 0 && !h.Partial { // before the comparison: its messages are new to the session again
		return false, fault.New(fault.RunRewound, "the run was rewound").With("run_id", out.Ref.RunID)
	}
	if err := b.In.Repeats(h, out.Ref.RunID); err != nil {
		return false, err
	}
	out.Before, out.After = before, own[0].Seq-1
	return true, nil
}

// unfinished returns the last run of a session if it failed or was cancelled; nil without
// one, and during a run.
func (b *Beginning) unfinished(ctx context.Context, of session.Session, h *History) (*run.Run, error) {
	last := h.last()
	if of.ActiveRunID != nil || last == "" {
		return nil, nil
	}
	r, err := b.Runs.Run(ctx, run.Ref{UserID: of.UserID, SessionID: of.ID, RunID: last})
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)): // not a run
		return nil, nil
	case err != nil:
		return nil, err
	case r.Status == run.Failed || r.Status == run.Cancelled:
		return &r, nil
	}
	return nil, nil
}

// endsOf returns the last run of a session if the next start removes it.
func (b *Beginning) endsOf(ctx context.Context, of session.Session, unfinished *run.Run) (conversation.Ends, error) {
	switch {
	case of.ActiveRunID == nil && unfinished != nil && unfinished.OnFailed != run.Keep:
		return conversation.Ends{Discarded: unfinished.ID}, nil
	case of.ActiveRunID == nil, b.In.OnActive == run.Enqueue:
		return conversation.Ends{}, nil
	}
	active, err := b.Runs.Run(ctx, run.Ref{UserID: of.UserID, SessionID: of.ID, RunID: *of.ActiveRunID})
	if err != nil || active.OnFailed == run.Keep {
		return conversation.Ends{}, err
	}
	return conversation.Ends{Replaced: active.ID}, nil
}
