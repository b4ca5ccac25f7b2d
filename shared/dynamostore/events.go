package dynamostore

import (
	"context"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/session"
)

// Events implements session.Store. The log is read at half price, eventually
// consistent: entries never change and positions have no gaps, so a stale
// answer shows, and only what it lacks is read again. The head of the log is
// read strongly consistent, so whatever was acknowledged is there.
func (s *Store) Events(
	ctx context.Context, userID, id string, q session.EventQuery,
) (session.EventPage, error) {
	h, err := s.header(ctx, userID, id)
	if err != nil {
		return session.EventPage{}, err
	}
	if q.Resume.Seq > 0 && q.Resume.Epoch != h.Epoch {
		return session.EventPage{}, fault.New(fault.Conflict,
			"the session was rewound since the cursor was given: start over without it")
	}
	p := &page{id: id, view: q.View, limit: q.Limit}
	ranges := h.timeline().After(q.After)
	read := s.readUp
	switch {
	case q.Descending:
		if q.Resume.Seq > 0 {
			ranges = ranges.Before(q.Resume.Seq)
		}
		slices.Reverse(ranges)
		read = s.readDown
	case q.Resume.Seq > 0:
		ranges = ranges.After(q.Resume.Seq)
	}
	for _, r := range ranges {
		if p.full {
			break
		}
		if err := read(ctx, r, p); err != nil {
			return session.EventPage{}, fmt.Errorf("read events of session %s: %w", id, err)
		}
	}
	return p.result(h.Epoch), nil
}

// page collects events up to its limits.
type page struct {
	id     string
	view   session.View
	limit  int
	events []session.Event
	bytes  int
	full   bool // there is at least one event more
}

// add takes an event of a range into the page, unless the page is full.
func (p *page) add(r session.Range, e session.Event) {
	if p.full || (p.view == session.Effective && e.TaskID != "") {
		return
	}
	size := e.Size()
	if len(p.events) == p.limit || (len(p.events) > 0 && p.bytes+size > session.PageBytes) {
		p.full = true
		return
	}
	e.SessionID = p.id
	e.Seq = r.Seq + e.Seq - r.From
	p.bytes += size
	p.events = append(p.events, e)
}

func (p *page) result(epoch int64) session.EventPage {
	out := session.EventPage{Events: p.events}
	if p.full {
		out.Next = &session.Resume{Seq: p.events[len(p.events)-1].Seq, Epoch: epoch}
	}
	return out
}

// most is how many entries the rest of the page can need: one more than
// events, to know whether there is a next page.
func (p *page) most() *int32 {
	return ptr(int32(p.limit - len(p.events) + 1)) //nolint:gosec // at most session.MaxPage
}

// readUp adds the events of a range in ascending order.
func (s *Store) readUp(ctx context.Context, r session.Range, p *page) error {
	next := r.From
	take := func(rec *record) {
		for _, e := range rec.events {
			if e.Seq >= next && (r.Open() || e.Seq <= r.To) {
				p.add(r, e)
			}
		}
		next = max(next, rec.last()+1)
	}
	q := s.entryQuery(r.Log, r.From, r.To, false)
	q.Limit = p.most()
	err := s.queryPages(ctx, q, func(items []attributes) (bool, error) {
		for _, item := range items {
			rec, err := s.decodeEntry(ctx, item)
			if err != nil {
				return false, err
			}
			if err := s.fillUp(ctx, r.Log, &next, rec.first, p, take); err != nil {
				return false, err
			}
			take(rec)
			if p.full {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil || p.full {
		return err
	}
	end := r.To + 1
	if r.Open() {
		newest, err := s.entryAtOrBefore(ctx, r.Log, 0)
		if err != nil || newest == nil {
			return err
		}
		end = newest.last() + 1
	}
	return s.fillUp(ctx, r.Log, &next, end, p, take)
}

// fillUp reads, strongly consistent, the entries that cover the positions from
// next to before end.
func (s *Store) fillUp(
	ctx context.Context, log string, next *int64, end int64, p *page, take func(*record),
) error {
	for *next < end && !p.full {
		rec, err := s.covering(ctx, log, *next)
		if err != nil {
			return err
		}
		take(rec)
	}
	return nil
}

// covering reads the entry that covers a position below the head.
func (s *Store) covering(ctx context.Context, log string, position int64) (*record, error) {
	rec, err := s.entryAtOrBefore(ctx, log, position)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.last() < position {
		return nil, fmt.Errorf("log %s has no entry at position %d", log, position)
	}
	return rec, nil
}

// readDown adds the events of a range in descending order.
func (s *Store) readDown(ctx context.Context, r session.Range, p *page) error {
	next := r.To
	take := func(rec *record) {
		for _, e := range slices.Backward(rec.events) {
			if e.Seq >= r.From && e.Seq <= next {
				p.add(r, e)
			}
		}
		next = min(next, rec.first-1)
	}
	if r.Open() {
		newest, err := s.entryAtOrBefore(ctx, r.Log, 0)
		if err != nil || newest == nil {
			return err
		}
		next = newest.last()
		take(newest)
	}
	if next < r.From || p.full {
		return nil
	}
	q := s.entryQuery(r.Log, 0, next, false)
	q.ScanIndexForward = ptr(false)
	q.Limit = p.most()
	err := s.queryPages(ctx, q, func(items []attributes) (bool, error) {
		for _, item := range items {
			rec, err := s.decodeEntry(ctx, item)
			if err != nil {
				return false, err
			}
			if err := s.fillDown(ctx, r.Log, &next, rec.last(), p, take); err != nil {
				return false, err
			}
			take(rec)
			if p.full || next < r.From {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return s.fillDown(ctx, r.Log, &next, r.From-1, p, take)
}

// fillDown reads, strongly consistent, the entries that cover the positions
// from next down to after end.
func (s *Store) fillDown(
	ctx context.Context, log string, next *int64, end int64, p *page, take func(*record),
) error {
	for *next > end && !p.full {
		rec, err := s.covering(ctx, log, *next)
		if err != nil {
			return err
		}
		take(rec)
	}
	return nil
}
