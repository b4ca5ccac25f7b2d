package sessions

import (
	"context"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
)

// Events implements session.Store. The log is read with eventual consistency, at
// half price: entries never change and positions have no gaps, so a stale answer
// can be recognised and only the missing part is read again. The head of the log is
// read with strong consistency, so every acknowledged event is included.
func (s *Store) Events(
	ctx context.Context, userID, id string, q session.EventQuery,
) (session.EventPage, error) {
	return records.SettledValue(ctx, func() (session.EventPage, error) {
		h, err := s.Header(ctx, userID, id)
		if err != nil {
			return session.EventPage{}, err
		}
		page, err := s.EventsOf(ctx, h, q)
		if err != nil {
			err = fmt.Errorf("read events of session %s: %w", id, s.NotFoundIfDeleted(ctx, h, err))
		}
		return page, err
	})
}

// EventsOf returns a page of the events of a session as it was read.
func (s *Store) EventsOf(ctx context.Context, h *Header, q session.EventQuery) (session.EventPage, error) {
	return s.EventsAt(ctx, h, nil, q)
}

// EventsAt is events for callers that have read the head of the session's log, which
// is then not read again. Later events may be among those that it returns.
func (s *Store) EventsAt(ctx context.Context, h *Header, head *eventlog.Head, q session.EventQuery) (session.EventPage, error) {
	if err := CheckEpoch(h, q.Resume.Seq > 0, q.Resume.Epoch); err != nil {
		return session.EventPage{}, err
	}
	timeline := h.Shown
	if q.View == session.All {
		timeline = h.Whole
	}
	outline, err := timeline()
	if err != nil {
		return session.EventPage{}, err
	}
	p := &eventlog.Page{Show: h.Show, Head: head, View: q.View, Limit: q.Limit, Compactor: s.compactorOf(h.Log, q, outline)}
	after, before := q.After, q.Before
	switch {
	case q.Resume.Seq == 0:
	case !q.Descending:
		after = max(after, q.Resume.Seq)
	case before == 0 || before > q.Resume.Seq:
		before = q.Resume.Seq
	}
	if err := s.readPage(ctx, outline.Walk(after, before, q.Descending, s.Markers(ctx)), q.Descending, p); err != nil {
		return session.EventPage{}, err
	}
	s.logs.Compact(ctx, p.Compactor.Ranges())
	return p.Result(h.Epoch), nil
}

// readPage reads the events on a walk until the page is full.
func (s *Store) readPage(ctx context.Context, walk *session.Walk, down bool, p *eventlog.Page) error {
	read := s.logs.ReadUp
	if down {
		read = s.logs.ReadDown
	}
	for !p.Full {
		ranges, err := walk.Next(p.Limit - len(p.Events) + 1)
		if ranges == nil || err != nil {
			return err
		}
		spans := eventlog.SpansOf(ranges)
		if down {
			slices.Reverse(spans)
		}
		for _, span := range spans {
			if p.Full {
				break
			}
			if err := read(ctx, span, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckEpoch refuses a cursor from before a rewind.
func CheckEpoch(h *Header, resumed bool, epoch int64) error {
	if resumed && epoch != h.Epoch {
		return fault.New(fault.SessionRewound, "the session was rewound since the cursor was given: start over without it").
			With("epoch", h.Epoch)
	}
	return nil
}

// compactorOf returns the compactor of a page of what the session shows; nil if nothing
// can be compacted.
func (s *Store) compactorOf(log string, q session.EventQuery, shown session.Outline) *eventlog.Compactor {
	if q.View != session.Effective || q.Descending {
		return nil
	}
	return compaction.New[*eventlog.Record](s.logs.Compaction, log, shown)
}
