package sessions

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/records"
)

// readUp adds the events of a span in ascending order: from compacted ranges where there
// are any, and from the log.
func (s *Store) readUp(ctx context.Context, sp span, p *page) error {
	seals := s.compactedRangesOf(&sp, p)
	next := sp.from
	for !p.full {
		sl, err := seals.next(ctx, next)
		if err != nil {
			return err
		}
		if sl == nil {
			return s.readLog(ctx, sp, next, sp.to, p)
		}
		if next < sl.From {
			if err := s.readLog(ctx, sp, next, sl.From-1, p); err != nil || p.full {
				return err
			}
			next = sl.From
		}
		if sl.holds(sp.ranges, next) {
			err = p.takeCompacted(&sp, sl, next)
		} else {
			err = s.readIncomplete(ctx, sp, next, sl, p)
		}
		if err != nil {
			return err
		}
		next = sl.to + 1
	}
	return nil
}

// readLog adds the events of a part of a span from the log itself.
func (s *Store) readLog(ctx context.Context, sp span, from, to int64, p *page) error {
	if to > 0 && (from > to || !sp.showsAny(from, to)) { // 0 is the head
		return nil
	}
	sp.from, sp.to = from, to
	return s.readEntries(ctx, sp, p)
}

// readIncomplete adds the events of a stretch whose compacted range lacks some of them, and
// mends the compacted range.
func (s *Store) readIncomplete(ctx context.Context, sp span, from int64, sl *compactedRange, p *page) error {
	p.compactor.rebuild(sp.log, sl)
	if err := s.readLog(ctx, sp, from, sl.to, p); err != nil {
		return err
	}
	p.compactor.endRebuild(!p.full)
	return nil
}

// takeCompacted adds the events of a compacted range from a position on.
func (p *page) takeCompacted(sp *span, sl *compactedRange, from int64) error {
	p.compactor.cut()
	for _, rec := range sl.records {
		for _, e := range rec.events {
			if e.Seq < from {
				continue
			}
			if err := p.take(sp, rec, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// compacted ranges are those of a span, read as far as a page needs them.
type compactedRanges struct {
	s    *Store
	sp   *span
	p    *page
	end  int64 // none ends behind it
	more bool

	queue       []*compactedRange
	seen        int // compacted ranges that were read, and the events in them
	seenEntries int
}

// compactedRangesOf are the compacted ranges of a span that are worth looking for: where enough is
// hidden between what it shows.
func (s *Store) compactedRangesOf(sp *span, p *page) *compactedRanges {
	end := p.compactor.end(sp)
	more := end > 0 && p.limit-len(p.events) >= s.compaction.Page && sp.worthCompacting(end)
	return &compactedRanges{s: s, sp: sp, p: p, end: end, more: more}
}

// next is the first compacted range that ends at a position or behind it; nil for none.
func (l *compactedRanges) next(ctx context.Context, at int64) (*compactedRange, error) {
	for {
		for len(l.queue) > 0 {
			sl := l.queue[0]
			l.queue = l.queue[1:]
			if sl.to >= at {
				return sl, nil
			}
		}
		if limit := l.wanted(); !l.more || limit == 0 || at > l.end {
			return nil, nil
		} else if err := l.read(ctx, at, limit); err != nil {
			return nil, err
		}
	}
}

// wanted is how many compacted ranges the rest of the page needs, judged by those before;
// 0 where it needs less than half of one.
func (l *compactedRanges) wanted() int {
	const first = 2
	rest := l.p.limit - len(l.p.events)
	if l.seenEntries == 0 {
		return first
	}
	return (rest*l.seen + l.seenEntries/2) / l.seenEntries
}

// read reads on, at half price: a compacted range that a replica lacks is not missed.
func (l *compactedRanges) read(ctx context.Context, from int64, limit int) error {
	q := records.Range(logPK(l.sp.log), compactedSK(from), compactedSK(l.end), false)
	q.Limit = limit
	page, err := l.s.db.Query(ctx, q)
	if err != nil {
		return fmt.Errorf("query seals: %w", err)
	}
	l.more = page.Next != nil
	for _, item := range page.Items {
		sl, err := l.s.decodeCompactedRange(item)
		if err != nil { // the log has it all
			l.s.log.WarnContext(ctx, "seal not readable", "error", err)
			continue
		}
		l.queue = append(l.queue, sl)
		l.seen, l.seenEntries = l.seen+1, l.seenEntries+len(sl.records)
	}
	return nil
}
