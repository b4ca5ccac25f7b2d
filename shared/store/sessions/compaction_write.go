package sessions

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// compactionTime bounds how long a reader waits for the compacted ranges it writes.
const compactionTime = 2 * time.Second

// compactor collects what a page reads over, and what it makes of it. A nil compactor
// collects nothing.
type compactor struct {
	rules Compaction
	own   string // log of the session
	open  int64  // where its last range begins

	stretch    stretch
	rebuilding *stretch // of a compacted range that lacks something
	done       []stretch
}

// stretch is a part of a log without gaps.
type stretch struct {
	log           string
	from, to      int64
	records       []*record // those that are shown
	shown, hidden int64     // bytes
	old           bool      // it has a compacted range, which lacks something
	broken        bool      // something of it fits into no compacted range
}

// newCompactor is the compactor of a page of what the session shows.
func (s *Store) newCompactor(h *header, q session.EventQuery, ranges session.Timeline) *compactor {
	if s.compaction.Bytes == 0 || q.View != session.Effective || q.Descending || len(ranges) < 2 {
		return nil
	}
	sl := &compactor{rules: s.compaction, own: h.Log}
	if last := ranges[len(ranges)-1]; last.Open() {
		sl.open = last.From
	}
	return sl
}

// end is the last position of a span that may be compacted; 0 for none.
func (sl *compactor) end(sp *span) int64 {
	if sl == nil || len(sp.ranges) < 2 {
		return 0
	}
	end := sp.to
	if before := sl.open - 1 - sl.rules.Behind; sp.log == sl.own && sl.open > 0 && (end == 0 || end > before) {
		end = before
	}
	return max(end, 0)
}

// see notes a record that was read of a span, and that the page has room for.
func (p *page) see(sp *span, rec *record) {
	if !p.full {
		p.compactor.see(sp, rec)
	}
}

func (sl *compactor) see(sp *span, rec *record) {
	end := sl.end(sp)
	if end == 0 {
		return
	}
	if sl.rebuilding != nil {
		sl.rebuilding.add(sp, rec)
		return
	}
	st := &sl.stretch
	if st.log != sp.log || rec.first != st.to+1 {
		sl.cut()
		st.log, st.from = sp.log, rec.first
	}
	if rec.last() > end || !rec.compactable() {
		sl.cut()
		return
	}
	st.to = rec.last()
	if !sp.showsAny(rec.first, rec.last()) {
		st.hidden += rec.size()
		return
	}
	st.records, st.shown = append(st.records, rec), st.shown+rec.size()
	if st.shown >= int64(sl.rules.Bytes) {
		sl.cut()
	}
}

// cut ends a stretch. One that is less than half as long as a compacted range should be
// goes with the one before it.
func (sl *compactor) cut() {
	if sl == nil {
		return
	}
	st := sl.stretch
	sl.stretch = stretch{}
	n := len(sl.done) - 1
	switch {
	case !worthCompacting(st.hidden, st.shown):
	case st.shown >= int64(sl.rules.Bytes)/2:
		sl.done = append(sl.done, st)
	case n >= 0 && !sl.done[n].old && sl.done[n].log == st.log && sl.done[n].to == st.from-1:
		before := &sl.done[n]
		before.to, before.records = st.to, append(before.records, st.records...)
	}
}

// rebuild begins to collect what a compacted range lacks.
func (sl *compactor) rebuild(log string, lacking *compactedRange) {
	sl.cut()
	sl.rebuilding = &stretch{log: log, from: lacking.From, to: lacking.to, old: true, records: slices.Clone(lacking.records)}
}

// endRebuild ends it; whole is whether all of the stretch was read.
func (sl *compactor) endRebuild(whole bool) {
	if whole {
		sl.done = append(sl.done, *sl.rebuilding)
	}
	sl.rebuilding = nil
}

// add takes in a record that is shown. What the stretch held before stays, so
// that timelines which differ do not take it from each other.
func (st *stretch) add(sp *span, rec *record) {
	i, held := slices.BinarySearchFunc(st.records, rec.first, func(r *record, at int64) int { return cmp.Compare(r.first, at) })
	switch {
	case held || !sp.showsAny(rec.first, rec.last()):
	case !rec.compactable():
		st.broken = true
	default:
		st.records = slices.Insert(st.records, i, rec)
	}
}

// compact writes the compacted ranges that a page has found worth having, and takes away
// those that cannot be mended. Failing costs later readers what it cost this
// one.
func (s *Store) compact(ctx context.Context, found *compactor) {
	if found == nil {
		return
	}
	found.cut()
	var writes []table.Write
	for _, st := range found.done {
		some, err := s.compactionWrites(st)
		if err != nil {
			s.log.WarnContext(ctx, "stretch not sealed", "log", st.log, "from", st.from, "error", err)
		}
		writes = append(writes, some...)
	}
	ctx, cancel := context.WithTimeout(ctx, compactionTime)
	defer cancel()
	if err := s.db.BatchWrite(ctx, writes); err != nil {
		s.log.WarnContext(ctx, "stretches not sealed", "error", err)
	}
}

// compactionWrites stores a stretch's compacted range, or takes away one that cannot be mended: none
// where neither is to be done.
func (s *Store) compactionWrites(st stretch) ([]table.Write, error) {
	var sl *compactedRange
	if !st.broken {
		var err error
		if sl, err = s.newCompactedRange(st); err != nil {
			return nil, err
		}
	}
	switch {
	case sl != nil:
		return []table.Write{table.Put(sl)}, nil
	case st.old:
		return []table.Write{table.Delete(compactedKey(st.log, st.to))}, nil
	}
	return nil, nil
}
