package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/store/table"
)

// readEntries adds the events of a span in ascending order, from the log.
func (s *Store) readEntries(ctx context.Context, sp span, p *page) error {
	next := sp.from
	take := func(rec *record) error {
		if err := s.fillShown(ctx, &sp, rec); err != nil {
			return err
		}
		for _, e := range rec.events {
			if e.Seq < next {
				continue
			}
			if err := p.take(&sp, rec, e); err != nil {
				return err
			}
		}
		p.see(&sp, rec)
		next = max(next, rec.last()+1)
		return nil
	}
	fill := func(end int64) error { // reads what a replica left out
		for next < end && !p.full {
			rec, err := s.shownEntryCovering(ctx, sp.log, next)
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
	if latest == nil || sp.from < latest.first {
		q := entryQuery(sp.log, sp.from, sp.to, false)
		if latest != nil {
			q.To = keys.EntrySK(latest.first - 1)
		}
		most := func() int { return p.most(&sp, next, false) }
		err := s.queryRecords(ctx, q, most, func(rec *record) (bool, error) {
			if err := fill(rec.first); err != nil {
				return false, err
			}
			return !p.full, take(rec)
		})
		if err != nil || p.full {
			return err
		}
	}
	if latest != nil {
		if err := fill(latest.first); err != nil || p.full || latest.last() < next {
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
func (p *page) latest(sp *span) *record {
	if !sp.open() || p.at == nil || p.at.latest == nil || p.at.latest.withoutBody || p.at.latest.inProgress() {
		return nil
	}
	return p.at.latest
}

// endOf returns the position after the last one of a span.
func (s *Store) endOf(ctx context.Context, sp *span, p *page) (int64, error) {
	switch {
	case !sp.open():
		return sp.to + 1, nil
	case p.at != nil:
		return p.at.next, nil
	}
	newest, err := s.entryAt(ctx, sp.log, 0)
	if err != nil || newest == nil {
		return 0, err
	}
	return newest.last() + 1, nil
}

// fillShown is fill if a span shows the record: a fork skips an item in progress
// that belongs to its source.
func (s *Store) fillShown(ctx context.Context, sp *span, rec *record) error {
	if rec.blank() || !sp.showsAny(rec.first, rec.last()) {
		return nil
	}
	err := s.fill(ctx, rec)
	if errors.Is(err, table.ErrUnreadable) {
		s.Base().LeftOut(ctx, table.NewKey(rec.PK, rec.SK), err)
		err = nil // it is shown as it began
	}
	return err
}

// entryCovering reads the entry that covers a position before the head.
func (s *Store) entryCovering(ctx context.Context, log string, position int64) (*record, error) {
	rec, err := s.entryAtOrBefore(ctx, log, position)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.last() < position {
		return nil, missingEntry(log, position)
	}
	return rec, nil
}

func missingEntry(log string, position int64) error {
	return fmt.Errorf("%w: log %s at position %d", errMissingEntry, log, position)
}

// readDown adds the events of a span in descending order.
func (s *Store) readDown(ctx context.Context, sp span, p *page) error {
	next := sp.to
	take := func(rec *record) error {
		if err := s.fillShown(ctx, &sp, rec); err != nil {
			return err
		}
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
	fill := func(end int64) error { // reads what a replica left out
		for next > end && !p.full {
			rec, err := s.shownEntryCovering(ctx, sp.log, next)
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
		newest, err := s.entryAt(ctx, sp.log, 0)
		if err != nil || newest == nil {
			return err
		}
		next = newest.last()
		if err := take(newest); err != nil {
			return err
		}
	}
	for next >= sp.from && !p.full {
		// The limit is in positions, not entries: one entry can cover a hundred.
		// fill finds an entry that begins before them.
		from := max(sp.from, next-int64(p.most(&sp, next, true))+1)
		q := entryQuery(sp.log, from, next, false)
		q.Descending = true
		all := func() int { return 0 }
		err := s.queryRecords(ctx, q, all, func(rec *record) (bool, error) {
			if err := fill(rec.last()); err != nil {
				return false, err
			}
			return !p.full, take(rec)
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
