package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
)

// errRewound says that the log contains a rewind that is missing in the header:
// both must be read again.
var errRewound = fmt.Errorf("the session was rewound while it was read: %w", retry.ErrAgain)

// Events implements session.Store. The log is read with eventual consistency, at
// half price: entries never change and positions have no gaps, so a stale answer
// can be recognised and only the missing part is read again. The head of the log is
// read with strong consistency, so every acknowledged event is included.
func (s *Store) Events(
	ctx context.Context, userID, id string, q session.EventQuery,
) (session.EventPage, error) {
	return records.SettledValue(ctx, func() (session.EventPage, error) {
		h, err := s.header(ctx, userID, id)
		if err != nil {
			return session.EventPage{}, err
		}
		page, err := s.events(ctx, h, q)
		if err != nil {
			err = fmt.Errorf("read events of session %s: %w", id, s.notFoundIfDeleted(ctx, h, err))
		}
		return page, err
	})
}

func (s *Store) events(ctx context.Context, h *header, q session.EventQuery) (session.EventPage, error) {
	return s.eventsAt(ctx, h, nil, q)
}

// eventsAt is events for callers that have read the head of the session's log, which
// is then not read again. Later events may be among those that it returns.
func (s *Store) eventsAt(ctx context.Context, h *header, at *head, q session.EventQuery) (session.EventPage, error) {
	if err := checkEpoch(h, q.Resume.Seq > 0, q.Resume.Epoch); err != nil {
		return session.EventPage{}, err
	}
	timeline := h.timeline
	if q.View == session.All {
		timeline = h.whole
	}
	ranges, err := timeline()
	if err != nil {
		return session.EventPage{}, err
	}
	ranges = ranges.After(q.After)
	p := &page{show: h.show, at: at, view: q.View, limit: q.Limit, compactor: s.compactorOf(h.Log, q, ranges)}
	if q.Before > 0 {
		ranges = ranges.Before(q.Before)
	}
	read := s.readUp
	switch {
	case q.Descending:
		if q.Resume.Seq > 0 {
			ranges = ranges.Before(q.Resume.Seq)
		}
		read = s.readDown
	case q.Resume.Seq > 0:
		ranges = ranges.After(q.Resume.Seq)
	}
	spans := spansOf(ranges)
	if q.Descending {
		slices.Reverse(spans)
	}
	for _, span := range spans {
		if p.full {
			break
		}
		if err := read(ctx, span, p); err != nil {
			return session.EventPage{}, err
		}
	}
	s.compact(ctx, p.compactor.Ranges())
	return p.result(h.Epoch), nil
}

// checkEpoch refuses a cursor from before a rewind.
func checkEpoch(h *header, resumed bool, epoch int64) error {
	if resumed && epoch != h.Epoch {
		return fault.New(fault.Conflict, "the session was rewound since the cursor was given: start over without it").
			With("epoch", h.Epoch)
	}
	return nil
}

// page collects events up to its limits.
type page struct {
	show      func(session.Range, session.Event) session.Event // as the session's readers see an event
	at        *head                                            // of the session's log, nil if it was not read
	view      session.View
	limit     int
	mostBytes int // bytes, 0 for session.PageBytes
	events    []session.Event
	bytes     int
	full      bool // there is at least one more event

	compactor *compactor
}

// take adds an event of a span to the page, unless it is hidden or the page is
// full.
func (p *page) take(sp *span, rec *record, e session.Event) error {
	r, shown := sp.rangeOf(e.Seq)
	if !shown || p.full {
		return nil
	}
	if p.view == session.Effective {
		if rec.marks() {
			return errRewound // the header's timeline leaves out the markers that it includes
		}
		if e.TaskID != "" || rec.Hidden {
			return nil
		}
	}
	size := e.Size()
	if len(p.events) == p.limit || (len(p.events) > 0 && p.bytes+size > cmp.Or(p.mostBytes, session.PageBytes)) {
		p.full = true
		return nil
	}
	p.bytes += size
	p.events = append(p.events, p.show(r, e))
	return nil
}

func (p *page) result(epoch int64) session.EventPage {
	out := session.EventPage{Events: p.events, Epoch: epoch}
	if p.full {
		out.Next = &session.Resume{Seq: p.events[len(p.events)-1].Seq, Epoch: epoch}
	}
	return out
}
