package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/run"
	"github.com/rethread/rethread/shared/session"
)

// Thread implements run.Store.
func (s *Store) Thread(ctx context.Context, userID, sessionID string, q run.ThreadQuery) (run.Thread, error) {
	for try := 0; ; try++ {
		h, at, active, err := s.settled(ctx, userID, sessionID)
		if err != nil {
			return run.Thread{}, err
		}
		t, err := s.thread(ctx, h, at, active, q)
		if !errors.Is(err, errStale) {
			if err != nil {
				err = fmt.Errorf("read the thread of session %s: %w", sessionID, s.unlessGone(ctx, h, err))
			}
			return t, err
		}
		if err := backoff(ctx, try); err != nil {
			return run.Thread{}, err
		}
	}
}

func (s *Store) thread(
	ctx context.Context, h *header, at head, active *activeRun, q run.ThreadQuery,
) (run.Thread, error) {
	page, err := s.events(ctx, h, session.EventQuery{View: session.Effective, Limit: q.Limit, Resume: q.Resume})
	if err != nil {
		return run.Thread{}, err
	}
	t := run.Thread{Items: page.Events, Next: page.Next, Seq: at.last(), Offset: at.deltas}
	if n := len(page.Events); n > 0 {
		// An item in progress has its deltas; what came after the head was read
		// is in the page and behind the watcher.
		if last := page.Events[n-1]; last.Seq >= t.Seq || page.Next != nil {
			t.Seq, t.Offset = last.Seq, last.Deltas
		}
	}
	if t.Session, err = s.render(h, at); err != nil {
		return run.Thread{}, err
	}
	if active != nil {
		r := active.run()
		t.Run = &r
	} else if h.Status == session.Failed {
		t.Run, err = s.pastRun(ctx, h, h.Spent)
	}
	return t, err
}
