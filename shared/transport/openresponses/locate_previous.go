package openresponses

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// afterPrevious returns the position after the previous response: in its session if that
// is where it ends, otherwise in a fork or after a rewind.
func (c *creation) afterPrevious(ctx context.Context) (position, error) {
	const field = "/previous_response_id"
	previous, err := c.find(ctx, c.req.Previous, access.StartRun)
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) && f.Kind == fault.NotFound { // 400, as OpenAI's API answers
			err = fault.Field(fault.Invalid, field, "does not exist: %s", c.req.Previous).With("code", codeNoPrevious)
		}
		return position{}, err
	}
	switch status := previous.Run.Status; {
	case isDiscarded(previous.Run):
		return position{}, fault.Field(fault.Invalid, field, "was not completed: continue from the response before it").
			With("code", codeEnded)
	case !status.Final() && c.req.OnActive == run.Reject:
		return position{}, busyWith(previous.id.RunID, previous.of.ID)
	}
	entries, err := c.entriesOf(ctx, previous.of, previous.id)
	if err != nil {
		return position{}, err
	}
	out := position{of: previous.of, known: responsesconvert.Calls(entries.own)}
	if len(entries.own) > 0 {
		first := entries.own[0].Seq
		out.older = func() (map[string]responsesconvert.Called, error) {
			events, err := c.newest(ctx, previous.of, first)
			return responsesconvert.Calls(events), err
		}
	}
	if !previous.Run.Status.Final() {
		return out, nil
	}
	ends, err := c.endsWith(ctx, previous.of, previous.id.RunID)
	if err != nil {
		return position{}, err
	}
	if ends {
		out.expected = &out.of.HeadSeq
		return out, nil
	}
	return c.diverge(ctx, out, entries.next)
}

// isDiscarded reports whether the next start discards a run if it is the last one.
func isDiscarded(r run.Run) bool {
	return (r.Status == run.Failed || r.Status == run.Cancelled) && r.OnFailed != run.Keep
}

// endsWith reports whether a run is the last of a session's effective ones, except one
// that the next start discards.
func (c *creation) endsWith(ctx context.Context, of session.Session, runID string) (bool, error) {
	q := session.EventQuery{View: session.Effective, Descending: true, Limit: 1}
	discarded := ""
	for {
		page, err := c.Sessions.Events(ctx, of.UserID, of.ID, q)
		if err != nil {
			return false, err
		}
		for _, e := range page.Events {
			q.Before = e.Seq
			switch e.InvocationID {
			case runID:
				return true, nil
			case discarded, responsesconvert.HistoryOf(c.runID):
				continue
			}
			if discarded != "" || of.ActiveRunID != nil {
				return false, nil
			}
			r, err := c.Runs.Run(ctx, run.Ref{UserID: of.UserID, SessionID: of.ID, RunID: e.InvocationID})
			switch {
			case errors.Is(err, fault.Of(fault.NotFound)): // not a run
				return false, nil
			case err != nil:
				return false, err
			case !isDiscarded(r):
				return false, nil
			}
			discarded = e.InvocationID
		}
		if page.Next == nil {
			return false, nil
		}
		q.Limit = session.DefaultPage
	}
}

// diverge makes room after a response that its session has gone on after; next is the
// first invocation after it.
func (c *creation) diverge(ctx context.Context, from position, next string) (position, error) {
	goneOn := fault.Field(fault.SeqConflict, "/previous_response_id", "is not the newest response of its conversation").
		With("code", codeDiverged).With("conversation_id", from.of.ID)
	switch {
	case c.req.OnDivergence == responsesconvert.Refuse:
		return position{}, goneOn
	case next == "": // another request has continued since the log was read
		return position{}, fmt.Errorf("%w: %w", errAgain, goneOn)
	case c.req.OnDivergence == responsesconvert.Rewind:
		_, err := c.Rewind(ctx, from.of.ID, next, c.req.OnActive == run.CancelAndMerge)
		if err == nil || errors.Is(err, fault.Of(fault.NotFound)) {
			return position{}, fmt.Errorf("%w: rewound", errAgain)
		}
		var f *fault.Error
		if errors.As(err, &f) && f.Kind == fault.Conflict && from.of.ActiveRunID != nil {
			return position{}, busyWith(*from.of.ActiveRunID, from.of.ID)
		}
		return position{}, err
	}
	err := c.Do(ctx, from.of.ID, access.Fork, func(p access.Permission) error {
		fork := session.ForkOf{
			SessionID: from.of.ID, UserID: p.Owner, ID: c.session, Nonce: c.nonce, Before: &next, Strict: true,
		}
		var err error
		from.of, err = c.Rewinds.Fork(ctx, fork)
		return err
	})
	from.created, from.expected = true, nil
	return from, err
}
