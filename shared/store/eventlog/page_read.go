package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// readEntries adds the events of a span in ascending order, from the log.
func (s *Store) readEntries(ctx context.Context, sp Span, p *Page) error {
	next := sp.From
	take := func(rec *Record) error {
		if err := s.fillShown(ctx, &sp, rec); err != nil {
			return err
		}
		for _, e := range rec.Events {
			if e.Seq < next {
				continue
			}
			if err := p.take(&sp, rec, e); err != nil {
				return err
			}
		}
		p.see(&sp, rec)
		next = max(next, rec.Last()+1)
		return nil
	}
	fill := func(end int64) error { // reads what a replica left out
		for next < end && !p.Full {
			rec, err := s.ShownEntryCovering(ctx, sp.Log, next)
			if err == nil {
				err = take(rec)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	latest := p.latest(&sp)
	if latest == nil || sp.From < latest.First {
		q := EntryQuery(sp.Log, sp.From, sp.To, false)
		if latest != nil {
			q.To = keys.EntrySK(latest.First - 1)
		}
		most := func() int { return p.most(&sp, next, false) }
		err := s.queryRecords(ctx, q, most, func(rec *Record) (bool, error) {
			if err := fill(rec.First); err != nil {
				return false, err
			}
			return !p.Full, take(rec)
		})
		if err != nil || p.Full {
			return err
		}
	}
	if latest != nil {
		if err := fill(latest.First); err != nil || p.Full || latest.Last() < next {
			return err
		}
		return take(latest)
	}
	end, err := s.endOf(ctx, &sp, p)
	if err != nil {
		return err
	}
	return fill(end)
}

// latest returns the latest entry of a span's log, nil if it is not known or may have
// changed since it was read.
func (p *Page) latest(sp *Span) *Record {
	if !sp.open() || p.Head == nil || p.Head.Latest == nil || p.Head.Latest.WithoutBody || p.Head.Latest.InProgress() {
		return nil
	}
	return p.Head.Latest
}

// endOf returns the position after the last one of a span.
func (s *Store) endOf(ctx context.Context, sp *Span, p *Page) (int64, error) {
	switch {
	case !sp.open():
		return sp.To + 1, nil
	case p.Head != nil:
		return p.Head.Next, nil
	}
	newest, err := s.EntryAt(ctx, sp.Log, 0)
	if err != nil || newest == nil {
		return 0, err
	}
	return newest.Last() + 1, nil
}

// fillShown is fill if a span shows the record: a fork skips an item in progress
// that belongs to its source.
func (s *Store) fillShown(ctx context.Context, sp *Span, rec *Record) error {
	if rec.blank() || !sp.showsAny(rec.First, rec.Last()) {
		return nil
	}
	err := s.fill(ctx, rec)
	if errors.Is(err, table.ErrUnreadable) {
		s.LeftOut(ctx, table.NewKey(rec.PK, rec.SK), err)
		err = nil // it is shown as it began
	}
	return err
}

// EntryCovering reads the entry that covers a position before the head.
func (s *Store) EntryCovering(ctx context.Context, log string, position int64) (*Record, error) {
	rec, err := s.EntryAtOrBefore(ctx, log, position)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Last() < position {
		return nil, missingEntry(log, position)
	}
	return rec, nil
}

func missingEntry(log string, position int64) error {
	return fmt.Errorf("%w: log %s at position %d", ErrMissingEntry, log, position)
}

// ReadDown adds the events of a span in descending order.
func (s *Store) ReadDown(ctx context.Context, sp Span, p *Page) error {
	next := sp.To
	take := func(rec *Record) error {
		if err := s.fillShown(ctx, &sp, rec); err != nil {
			return err
		}
		for _, e := range slices.Backward(rec.Events) {
			if e.Seq > next {
				continue
			}
			if err := p.take(&sp, rec, e); err != nil {
				return err
			}
		}
		next = min(next, rec.First-1)
		return nil
	}
	fill := func(end int64) error { // reads what a replica left out
		for next > end && !p.Full {
			rec, err := s.ShownEntryCovering(ctx, sp.Log, next)
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
		newest, err := s.EntryAt(ctx, sp.Log, 0)
		if err != nil || newest == nil {
			return err
		}
		next = newest.Last()
		if err := take(newest); err != nil {
			return err
		}
	}
	for next >= sp.From && !p.Full {
		// The limit is in positions, not entries: one entry can cover a hundred.
		// fill finds an entry that begins before them.
		from := max(sp.From, next-int64(p.most(&sp, next, true))+1)
		q := EntryQuery(sp.Log, from, next, false)
		q.Descending = true
		all := func() int { return 0 }
		err := s.queryRecords(ctx, q, all, func(rec *Record) (bool, error) {
			if err := fill(rec.Last()); err != nil {
				return false, err
			}
			return !p.Full, take(rec)
		})
		if err == nil {
			err = fill(from - 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
