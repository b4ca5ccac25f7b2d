package watching

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/sessions"
)

// Thread implements run.Store. The header is read twice, and only the second time with
// strong consistency: what was read by the first one is valid if both agree.
func (s *Store) Thread(ctx context.Context, userID, sessionID string, q run.ThreadQuery) (run.Thread, error) {
	read := s.sessions.EventualOnce()
	return records.SettledValue(ctx, func() (run.Thread, error) {
		h, head, active, err := s.runs.ReadSettledBy(ctx, read, userID, sessionID)
		if err != nil {
			return run.Thread{}, err
		}
		t, err := s.thread(ctx, h, head, active, q)
		if err != nil {
			err = fmt.Errorf("read the thread of session %s: %w", sessionID, s.sessions.NotFoundIfDeleted(ctx, h, err))
		}
		return t, err
	})
}

func (s *Store) thread(
	ctx context.Context, h *sessions.Header, head eventlog.Head, active *runs.ActiveRun, q run.ThreadQuery,
) (run.Thread, error) {
	read := s.threadUp
	if q.Descending {
		read = s.threadDown
	}
	t, err := read(ctx, h, head, q)
	if err != nil {
		return run.Thread{}, err
	}
	if t.Queue, err = s.runs.ReadableQueue(ctx, h); err != nil {
		return run.Thread{}, err
	}
	if h, err = s.sameStatus(ctx, h); err != nil {
		return run.Thread{}, err
	}
	if t.Session, err = s.sessions.Render(ctx, h, head); err != nil {
		return run.Thread{}, err
	}
	if active != nil {
		r := active.Run()
		t.Run = &r
	} else if h.Status == session.Failed {
		t.Run, err = s.runs.PastRun(ctx, h, h.FailedRun())
	}
	return t, err
}

// threadUp reads items, oldest first, up to the head.
func (s *Store) threadUp(ctx context.Context, h *sessions.Header, head eventlog.Head, q run.ThreadQuery) (run.Thread, error) {
	page, err := s.sessions.EventsAt(ctx, h, &head, session.EventQuery{View: session.Effective, Limit: q.Limit, Resume: q.Resume})
	if err != nil {
		return run.Thread{}, err
	}
	t := run.Thread{Items: upTo(page.Events, head.Last()), Next: page.Next, Seq: head.Last(), Offset: head.Offset}
	if len(t.Items) < len(page.Events) {
		t.Next = nil // the rest came after the head was read
	}
	if n := len(t.Items); n > 0 {
		if last := t.Items[n-1]; last.Seq == t.Seq {
			t.Offset = offsetAt(last, head)
		} else if t.Next != nil {
			t.Seq, t.Offset = last.Seq, offsetAfter(last)
		}
	}
	if t.Next != nil {
		return t, nil
	}
	startAtOpen(&t)
	return t, s.startBeforeOpen(ctx, h, head, q, &t)
}

// startAtOpen moves the watcher's position back to the item in progress, which
// continues although others follow it, but not further than the events that
// watchers get from there.
func startAtOpen(t *run.Thread) {
	for _, e := range t.Items {
		if e.Status == session.EventInProgress && t.Seq-e.Seq < watch.MaxBehind {
			t.Seq, t.Offset = e.Seq, e.Deltas
		}
	}
}

// startBeforeOpen does the same if the item in progress is on an earlier page, with
// its content at that time: the watcher gets it once more.
func (s *Store) startBeforeOpen(ctx context.Context, h *sessions.Header, head eventlog.Head, q run.ThreadQuery, t *run.Thread) error {
	if head.Open == 0 || head.Open > q.Resume.Seq || t.Seq-head.Open >= watch.MaxBehind {
		return nil
	}
	rec, err := s.logs.EntryCovering(ctx, h.Log, head.Open)
	if err == nil && rec.InProgress() {
		t.Seq, t.Offset = head.Open-1, 0
	}
	return err
}

// threadDown reads items back from the head, as if a previous page had ended right
// after it: later items are left out, and the head is not read again.
func (s *Store) threadDown(ctx context.Context, h *sessions.Header, head eventlog.Head, q run.ThreadQuery) (run.Thread, error) {
	from := q.Resume
	if from.Seq == 0 {
		from = session.Resume{Seq: head.Next, Epoch: h.Epoch}
	}
	from.Seq = min(from.Seq, head.Next) // a session created again may be shorter
	page, err := s.sessions.EventsOf(ctx, h, session.EventQuery{
		View: session.Effective, Descending: true, Limit: q.Limit, Resume: from,
	})
	if err != nil {
		return run.Thread{}, err
	}
	t := run.Thread{Items: page.Events, Next: page.Next, Seq: head.Last(), Offset: head.Offset}
	if len(t.Items) > 0 && t.Items[0].Seq == t.Seq {
		t.Offset = offsetAt(t.Items[0], head)
	}
	startAtOpen(&t)
	return t, nil
}

// offsetAfter returns the cursor offset of a watcher that has an event in its
// current form.
func offsetAfter(e session.Event) int64 { return watch.CursorAfter(0, e).Offset }

// offsetAt returns the same for the latest event. The head knows of an item that
// was complete without any deltas, the event of one that has been completed since.
func offsetAt(e session.Event, head eventlog.Head) int64 {
	if e.Status == session.EventInProgress {
		return e.Deltas
	}
	return max(offsetAfter(e), head.Offset)
}

// sameStatus checks, after the log was read, that no run has begun or ended since
// the header was read, and returns the header as it is now: a status must not be older
// than its cursor, because no later message would correct it.
func (s *Store) sameStatus(ctx context.Context, h *sessions.Header) (*sessions.Header, error) {
	now, err := s.sessions.Header(ctx, h.User, h.ID())
	if err != nil {
		return nil, err
	}
	if now.Log != h.Log || now.Run != h.Run || now.Status != h.Status || now.Epoch != h.Epoch ||
		now.QueueVersion != h.QueueVersion {
		return nil, eventlog.ErrRewound
	}
	return now, nil
}

// upTo returns the events of an ascending page up to a seq.
func upTo(events []session.Event, seq int64) []session.Event {
	n := len(events)
	for n > 0 && events[n-1].Seq > seq {
		n--
	}
	return events[:n]
}
