package sessions

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
)

// Thread implements run.Store.
func (s *Store) Thread(ctx context.Context, userID, sessionID string, q run.ThreadQuery) (run.Thread, error) {
	return records.SettledValue(ctx, func() (run.Thread, error) {
		h, at, active, err := s.readSettled(ctx, userID, sessionID)
		if err != nil {
			return run.Thread{}, err
		}
		t, err := s.thread(ctx, h, at, active, q)
		if err != nil {
			err = fmt.Errorf("read the thread of session %s: %w", sessionID, s.notFoundIfDeleted(ctx, h, err))
		}
		return t, err
	})
}

func (s *Store) thread(
	ctx context.Context, h *header, at head, active *activeRun, q run.ThreadQuery,
) (run.Thread, error) {
	read := s.threadUp
	if q.Descending {
		read = s.threadDown
	}
	t, err := read(ctx, h, at, q)
	if err != nil {
		return run.Thread{}, err
	}
	if err := s.sameStatus(ctx, h); err != nil {
		return run.Thread{}, err
	}
	if t.Session, err = s.render(h, at); err != nil {
		return run.Thread{}, err
	}
	if active != nil {
		r := active.run()
		t.Run = &r
	} else if h.Status == session.Failed {
		t.Run, err = s.pastRun(ctx, h, h.UnfinishedRun)
	}
	return t, err
}

// threadUp reads items, the oldest first, up to the head.
func (s *Store) threadUp(ctx context.Context, h *header, at head, q run.ThreadQuery) (run.Thread, error) {
	page, err := s.events(ctx, h, session.EventQuery{View: session.Effective, Limit: q.Limit, Resume: q.Resume})
	if err != nil {
		return run.Thread{}, err
	}
	t := run.Thread{Items: upTo(page.Events, at.last()), Next: page.Next, Seq: at.last(), Offset: at.offset}
	if len(t.Items) < len(page.Events) {
		t.Next = nil // the rest came after the head was read
	}
	if n := len(t.Items); n > 0 {
		if last := t.Items[n-1]; last.Seq == t.Seq {
			t.Offset = offsetAt(last, at)
		} else if t.Next != nil {
			t.Seq, t.Offset = last.Seq, offsetAfter(last)
		}
	}
	if t.Next != nil {
		return t, nil
	}
	standAtOpen(&t)
	return t, s.standBeforeOpen(ctx, h, at, q, &t)
}

// standAtOpen takes the watcher back to the item in progress, which goes on
// although there are others behind it; but not further than watchers are told of
// from there.
func standAtOpen(t *run.Thread) {
	for _, e := range t.Items {
		if e.Status == session.EventInProgress && t.Seq-e.Seq < watch.MaxBehind {
			t.Seq, t.Offset = e.Seq, e.Deltas
		}
	}
}

// standBeforeOpen does so where the item in progress is on a page before, with
// the content of then: it comes once more.
func (s *Store) standBeforeOpen(ctx context.Context, h *header, at head, q run.ThreadQuery, t *run.Thread) error {
	if at.open == 0 || at.open > q.Resume.Seq || t.Seq-at.open >= watch.MaxBehind {
		return nil
	}
	rec, err := s.entryCovering(ctx, h.Log, at.open)
	if err == nil && rec.inProgress() {
		t.Seq, t.Offset = at.open-1, 0
	}
	return err
}

// threadDown reads items back from the head, as if a page before had ended
// right behind it: so what comes after the head was read stays out, and the
// head is not read once more.
func (s *Store) threadDown(ctx context.Context, h *header, at head, q run.ThreadQuery) (run.Thread, error) {
	from := q.Resume
	if from.Seq == 0 {
		from = session.Resume{Seq: at.next, Epoch: h.Epoch}
	}
	from.Seq = min(from.Seq, at.next) // a session created again may be shorter
	page, err := s.events(ctx, h, session.EventQuery{
		View: session.Effective, Descending: true, Limit: q.Limit, Resume: from,
	})
	if err != nil {
		return run.Thread{}, err
	}
	t := run.Thread{Items: page.Events, Next: page.Next, Seq: at.last(), Offset: at.offset}
	if len(t.Items) > 0 && t.Items[0].Seq == t.Seq {
		t.Offset = offsetAt(t.Items[0], at)
	}
	standAtOpen(&t)
	return t, nil
}

// offsetBehind is that of a watcher's cursor who has an event as it is.
func offsetAfter(e session.Event) int64 { return watch.CursorAfter(0, e).Offset }

// offsetAt is the same of the newest event. The head knows of an item that was
// complete without any deltas, the event of one that is complete since.
func offsetAt(e session.Event, at head) int64 {
	if e.Status == session.EventInProgress {
		return e.Deltas
	}
	return max(offsetAfter(e), at.offset)
}

// sameStatus checks, after the log was read, that no run has begun or ended
// since the header was: a status must not be older than the cursor it comes
// with, behind which nothing would correct it.
func (s *Store) sameStatus(ctx context.Context, h *header) error {
	now, err := s.header(ctx, h.User, h.id())
	if err != nil {
		return err
	}
	if now.Run != h.Run || now.Status != h.Status || now.Epoch != h.Epoch {
		return errRewound
	}
	return nil
}

// upTo is the events of a page in ascending order up to a seq.
func upTo(events []session.Event, seq int64) []session.Event {
	n := len(events)
	for n > 0 && events[n-1].Seq > seq {
		n--
	}
	return events[:n]
}
