package eventlog

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// AppendBehind appends events behind other entries of the same transaction, which before
// returns together with the state after them; with.writes holds those entries. It tries once:
// table.ErrConditionFailed if the head is another one, or one of the events is in the log.
func (s *Store) AppendBehind(
	ctx context.Context, l Log, head Head, events []session.Event, with Along, before func() ([]*Record, *StateChange, error),
) (Appended, error) {
	w := s.newWriter(l, events, with)
	w.start(head)
	if err := w.findRedelivered(ctx); err != nil {
		return Appended{}, err
	}
	if w.head.Next != head.Next || len(w.fresh()) < len(events) {
		return Appended{}, table.ErrConditionFailed
	}
	entries, state, err := before()
	if err != nil {
		return Appended{}, err
	}
	// If this attempt fails, the events may be appended at the head as it was read.
	w.boundAt, w.state = head.Next, state
	for _, r := range entries {
		w.pass(r)
	}
	end := w.head.Next
	if err := w.claimIDs(ctx); err != nil {
		return Appended{}, err
	}
	if w.head.Next != end || len(w.fresh()) < len(events) {
		return Appended{}, table.ErrConditionFailed
	}
	if err := w.try(ctx, w.fresh()); err != nil {
		if errors.Is(err, table.ErrConditionFailed) {
			w.discardTentative(ctx)
		}
		return Appended{}, err
	}
	return Appended{Events: w.events, Fresh: len(events), Head: w.head, Last: w.last}, nil
}
