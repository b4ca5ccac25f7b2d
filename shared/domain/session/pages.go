package session

import (
	"context"
	"iter"
)

// Reader reads logs by pages.
type Reader interface {
	// Events reads a page. It returns fault.Conflict if the previous page was read in
	// an earlier epoch.
	Events(ctx context.Context, userID, id string, q EventQuery) (EventPage, error)
}

// Pages reads the pages of a query, one after the other. An error ends them.
func Pages(ctx context.Context, r Reader, userID, id string, q EventQuery) iter.Seq2[EventPage, error] {
	return func(yield func(EventPage, error) bool) {
		for {
			page, err := r.Events(ctx, userID, id, q)
			if !yield(page, err) || err != nil || page.Next == nil {
				return
			}
			q.Resume = *page.Next
		}
	}
}

// ReadEffective reads all events of a session after a position that no rewind hides.
func ReadEffective(ctx context.Context, r Reader, userID, id string, after int64) ([]Event, error) {
	var all []Event
	for page, err := range Pages(ctx, r, userID, id, EventQuery{View: Effective, After: after, Limit: MaxPage}) {
		if err != nil {
			return nil, err
		}
		all = append(all, page.Events...)
	}
	return all, nil
}
