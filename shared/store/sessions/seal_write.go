package sessions

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// sealTime bounds how long a reader waits for the seals it writes.
const sealTime = 2 * time.Second

// sealer collects what a page reads over, and what it makes of it. A nil sealer
// collects nothing.
type sealer struct {
	rules Sealing
	own   string // log of the session
	open  int64  // where its last range begins

	stretch stretch
	mending *stretch // of a seal that lacks something
	done    []stretch
}

// stretch is a part of a log without gaps.
type stretch struct {
	log           string
	from, to      int64
	records       []*record // those that are shown
	shown, hidden int64     // bytes
	old           bool      // it has a seal, which lacks something
	broken        bool      // something of it fits into no seal
}

// newSealer is the sealer of a page of what the session shows.
func (s *Store) newSealer(h *header, q session.EventQuery, ranges session.Timeline) *sealer {
	if s.sealing.Bytes == 0 || q.View != session.Effective || q.Descending || len(ranges) < 2 {
		return nil
	}
	sl := &sealer{rules: s.sealing, own: h.Log}
	if last := ranges[len(ranges)-1]; last.Open() {
		sl.open = last.From
	}
	return sl
}

// end is the last position of a span that may be sealed; 0 for none.
func (sl *sealer) end(sp *span) int64 {
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
		p.sealing.see(sp, rec)
	}
}

func (sl *sealer) see(sp *span, rec *record) {
	end := sl.end(sp)
	if end == 0 {
		return
	}
	if sl.mending != nil {
		sl.mending.add(sp, rec)
		return
	}
	st := &sl.stretch
	if st.log != sp.log || rec.first != st.to+1 {
		sl.cut()
		st.log, st.from = sp.log, rec.first
	}
	if rec.last() > end || !rec.sealable() {
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

// cut ends a stretch. One that is less than half as long as a seal should be
// goes with the one before it.
func (sl *sealer) cut() {
	if sl == nil {
		return
	}
	st := sl.stretch
	sl.stretch = stretch{}
	n := len(sl.done) - 1
	switch {
	case !worthSealing(st.hidden, st.shown):
	case st.shown >= int64(sl.rules.Bytes)/2:
		sl.done = append(sl.done, st)
	case n >= 0 && !sl.done[n].old && sl.done[n].log == st.log && sl.done[n].to == st.from-1:
		before := &sl.done[n]
		before.to, before.records = st.to, append(before.records, st.records...)
	}
}

// mend begins to collect what a seal lacks.
func (sl *sealer) mend(log string, lacking *seal) {
	sl.cut()
	sl.mending = &stretch{log: log, from: lacking.From, to: lacking.to, old: true, records: slices.Clone(lacking.records)}
}

// mended ends it; whole is whether all of the stretch was read.
func (sl *sealer) mended(whole bool) {
	if whole {
		sl.done = append(sl.done, *sl.mending)
	}
	sl.mending = nil
}

// add takes in a record that is shown. What the stretch held before stays, so
// that timelines which differ do not take it from each other.
func (st *stretch) add(sp *span, rec *record) {
	i, held := slices.BinarySearchFunc(st.records, rec.first, func(r *record, at int64) int { return cmp.Compare(r.first, at) })
	switch {
	case held || !sp.showsAny(rec.first, rec.last()):
	case !rec.sealable():
		st.broken = true
	default:
		st.records = slices.Insert(st.records, i, rec)
	}
}

// seal writes the seals that a page has found worth having, and takes away
// those that cannot be mended. Failing costs later readers what it cost this
// one.
func (s *Store) seal(ctx context.Context, found *sealer) {
	if found == nil {
		return
	}
	found.cut()
	var writes []table.Write
	for _, st := range found.done {
		some, err := s.sealWrites(st)
		if err != nil {
			s.log.WarnContext(ctx, "stretch not sealed", "log", st.log, "from", st.from, "error", err)
		}
		writes = append(writes, some...)
	}
	ctx, cancel := context.WithTimeout(ctx, sealTime)
	defer cancel()
	if err := s.db.BatchWrite(ctx, writes); err != nil {
		s.log.WarnContext(ctx, "stretches not sealed", "error", err)
	}
}

// sealWrites stores a stretch's seal, or takes away one that cannot be mended: none
// where neither is to be done.
func (s *Store) sealWrites(st stretch) ([]table.Write, error) {
	var sl *seal
	if !st.broken {
		var err error
		if sl, err = s.newSeal(st); err != nil {
			return nil, err
		}
	}
	switch {
	case sl != nil:
		return []table.Write{table.Put(sl)}, nil
	case st.old:
		return []table.Write{table.Delete(sealKey(st.log, st.to))}, nil
	}
	return nil, nil
}
