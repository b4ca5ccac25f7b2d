package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/session"
)

// errStale says that the log holds a rewind that the header did not know of.
var errStale = errors.New("the session was rewound while it was read")

// Events implements session.Store. The log is read at half price, eventually
// consistent: entries never change and positions have no gaps, so a stale
// answer shows, and only what it lacks is read again. The head of the log is
// read strongly consistent, so whatever was acknowledged is there.
func (s *Store) Events(
	ctx context.Context, userID, id string, q session.EventQuery,
) (session.EventPage, error) {
	for try := 0; ; try++ {
		h, err := s.header(ctx, userID, id)
		if err != nil {
			return session.EventPage{}, err
		}
		page, err := s.events(ctx, h, q)
		if !errors.Is(err, errStale) {
			if err != nil {
				err = fmt.Errorf("read events of session %s: %w", id, s.unlessGone(ctx, userID, id, err))
			}
			return page, err
		}
		if err := backoff(ctx, try); err != nil {
			return session.EventPage{}, err
		}
	}
}

func (s *Store) events(ctx context.Context, h *header, q session.EventQuery) (session.EventPage, error) {
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
	p := &page{h: h, view: q.View, limit: q.Limit}
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

// span is a stretch of one log that is read in one go: ranges with so little
// hidden between them that reading it costs less than a request of its own,
// which is rounded up to 4 KB.
type span struct {
	ranges session.Timeline
	log    string
	from   int64
	to     int64 // 0: the head of the log
}

// bridge is how many hidden positions are read over.
const bridge = 6

func spansOf(ranges session.Timeline) []span {
	var out []span
	for _, r := range ranges {
		if n := len(out) - 1; n >= 0 && out[n].log == r.Log && r.From > out[n].to && r.From-out[n].to <= bridge+1 {
			out[n].ranges, out[n].to = append(out[n].ranges, r), r.To
			continue
		}
		out = append(out, span{ranges: session.Timeline{r}, log: r.Log, from: r.From, to: r.To})
	}
	return out
}

func (sp *span) open() bool { return sp.to == 0 }

// rangeOf is the range of the span that holds a position.
func (sp *span) rangeOf(position int64) (session.Range, bool) {
	for _, r := range sp.ranges {
		if r.Holds(position) {
			return r, true
		}
	}
	return session.Range{}, false
}

// page collects events up to its limits.
type page struct {
	h      *header
	view   session.View
	limit  int
	events []session.Event
	bytes  int
	full   bool // there is at least one event more
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
			return errStale // the header's timeline leaves out the markers it knows
		}
		if e.TaskID != "" {
			return nil
		}
	}
	size := e.Size()
	if len(p.events) == p.limit || (len(p.events) > 0 && p.bytes+size > session.PageBytes) {
		p.full = true
		return nil
	}
	p.bytes += size
	p.events = append(p.events, p.h.show(r, e))
	return nil
}

func (p *page) result(epoch int64) session.EventPage {
	out := session.EventPage{Events: p.events}
	if p.full {
		out.Next = &session.Resume{Seq: p.events[len(p.events)-1].Seq, Epoch: epoch}
	}
	return out
}

// most is how many entries of a span, from a position on or back from it, the
// rest of the page can need: one more than events, to know whether there is a
// next page, and what is hidden between them.
func (p *page) most(sp *span, from int64, down bool) *int32 {
	wanted := int64(p.limit - len(p.events) + 1)
	n := wanted
	for i := range sp.ranges {
		j := i
		if down {
			j = len(sp.ranges) - 1 - i
		}
		r := sp.ranges[j]
		if r.Open() {
			if down {
				continue
			}
			break
		}
		shown, gap := r.To-max(from, r.From)+1, int64(0)
		if down {
			shown = min(from, r.To) - r.From + 1
		}
		if shown <= 0 {
			continue
		}
		if shown >= wanted {
			break
		}
		wanted -= shown
		switch {
		case down && j > 0:
			gap = r.From - sp.ranges[j-1].To - 1
		case !down && j+1 < len(sp.ranges):
			gap = sp.ranges[j+1].From - r.To - 1
		}
		n += gap
	}
	return ptr(int32(n)) //nolint:gosec // at most session.MaxPage and the bridges
}

// readUp adds the events of a span in ascending order.
func (s *Store) readUp(ctx context.Context, sp span, p *page) error {
	next := sp.from
	take := func(rec *record) error {
		for _, e := range rec.events {
			if e.Seq < next {
				continue
			}
			if err := p.take(&sp, rec, e); err != nil {
				return err
			}
		}
		next = max(next, rec.last()+1)
		return nil
	}
	fill := func(end int64) error { // what a replica left out
		for next < end && !p.full {
			rec, err := s.covering(ctx, sp.log, next)
			if err == nil {
				err = take(rec)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	q := s.entryQuery(sp.log, sp.from, sp.to, false)
	most := func() *int32 { return p.most(&sp, next, false) }
	err := s.queryRecords(ctx, q, most, func(rec *record) (bool, error) {
		if err := fill(rec.first); err != nil {
			return false, err
		}
		return !p.full, take(rec)
	})
	if err != nil || p.full {
		return err
	}
	end := sp.to + 1
	if sp.open() {
		newest, err := s.entryAtOrBefore(ctx, sp.log, 0)
		if err != nil || newest == nil {
			return err
		}
		end = newest.last() + 1
	}
	return fill(end)
}

// covering reads the entry that covers a position below the head.
func (s *Store) covering(ctx context.Context, log string, position int64) (*record, error) {
	rec, err := s.entryAtOrBefore(ctx, log, position)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.last() < position {
		return nil, fmt.Errorf("%w: log %s at position %d", errHole, log, position)
	}
	return rec, nil
}

// readDown adds the events of a span in descending order.
func (s *Store) readDown(ctx context.Context, sp span, p *page) error {
	next := sp.to
	take := func(rec *record) error {
		for _, e := range slices.Backward(rec.events) {
			if e.Seq > next {
				continue
			}
			if err := p.take(&sp, rec, e); err != nil {
				return err
			}
		}
		next = min(next, rec.first-1)
		return nil
	}
	fill := func(end int64) error { // what a replica left out
		for next > end && !p.full {
			rec, err := s.covering(ctx, sp.log, next)
			if err == nil {
				err = take(rec)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if sp.open() {
		newest, err := s.entryAtOrBefore(ctx, sp.log, 0)
		if err != nil || newest == nil {
			return err
		}
		next = newest.last()
		if err := take(newest); err != nil {
			return err
		}
	}
	if next < sp.from || p.full {
		return nil
	}
	q := s.entryQuery(sp.log, 0, next, false)
	q.ScanIndexForward = ptr(false)
	most := func() *int32 { return p.most(&sp, next, true) }
	err := s.queryRecords(ctx, q, most, func(rec *record) (bool, error) {
		if err := fill(rec.last()); err != nil {
			return false, err
		}
		err := take(rec)
		return !p.full && next >= sp.from, err
	})
	if err != nil {
		return err
	}
	return fill(sp.from - 1)
}
