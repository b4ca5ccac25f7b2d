package compaction_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/session"
)

// reading is what a page reads of a log: the entries of some spans, in order.
type reading struct {
	rules compaction.Rules
	shown session.Timeline
	log   string
	steps []step
	cuts  map[int64]bool // by the last position before them
}

// step reads an entry; cut says that the next ones come from a compacted range.
type step struct {
	sp  compaction.Span
	e   compaction.Entry[int64]
	cut bool
}

// drawReading draws a log of entries of several positions, the ranges that a session
// shows of it, and how a page reads them: some ranges together in one span, some parts
// skipped as if they had come from compacted ranges.
func drawReading(rt *rapid.T) reading {
	r := reading{
		cuts: map[int64]bool{},
		log:  rapid.SampledFrom([]string{own, "source"}).Draw(rt, "log"),
		rules: compaction.Rules{
			Bytes: rapid.IntRange(1, 80).Draw(rt, "bytes"), Page: 1, Behind: rapid.Int64Range(0, 6).Draw(rt, "behind"),
		},
	}
	var entries []compaction.Entry[int64]
	head := int64(0)
	for n := rapid.IntRange(1, 60).Draw(rt, "entries"); n > 0; n-- {
		e := compaction.Entry[int64]{First: head + 1, Size: rapid.Int64Range(1, 30).Draw(rt, "size"), Of: head + 1}
		head += rapid.SampledFrom([]int64{1, 1, 1, 2, 9}).Draw(rt, "positions")
		e.Last, e.Fits = head, rapid.IntRange(0, 15).Draw(rt, "unfit") > 0
		entries = append(entries, e)
	}
	var spans []compaction.Span
	for from := int64(1); from <= head; {
		to := min(head, from+rapid.Int64Range(0, 6).Draw(rt, "shown"))
		shown := session.Range{Log: r.log, From: from, To: to, Seq: from}
		if r.log == own && to == head {
			shown.To = 0
		}
		r.shown = append(r.shown, shown)
		if n := len(spans) - 1; n >= 0 && rapid.IntRange(0, 4).Draw(rt, "read apart") > 0 {
			spans[n].Shown, spans[n].To = append(spans[n].Shown, shown), shown.To
		} else {
			spans = append(spans, compaction.Span{Log: r.log, Shown: session.Timeline{shown}, From: from, To: shown.To})
		}
		from = to + 2 + rapid.Int64Range(0, 5).Draw(rt, "hidden")
	}
	skipping := false
	for _, sp := range spans {
		for _, e := range entries {
			if e.Last < sp.From || (sp.To > 0 && e.First > sp.To) {
				continue
			}
			if skipping {
				skipping = rapid.IntRange(0, 2).Draw(rt, "still skipped") > 0
			} else {
				skipping = rapid.IntRange(0, 12).Draw(rt, "skipped") == 12
			}
			if !skipping {
				e.Shown = slices.ContainsFunc(sp.Shown, func(r session.Range) bool {
					return e.Last >= r.From && (r.Open() || e.First <= r.To)
				})
				r.steps = append(r.steps, step{sp: sp, e: e})
			} else if n := len(r.steps) - 1; n >= 0 {
				r.steps[n].cut = true
			}
		}
	}
	return r
}

// choose returns what a chooser makes of the reading, and the entries that it may put
// into ranges: contiguous ones are together, and an entry that two spans contain is
// there once.
func (r reading) choose(rt *rapid.T) (got []compaction.Range[int64], eligible [][]compaction.Entry[int64]) {
	c := compaction.New[int64](r.rules, own, session.OutlineOf(r.shown))
	next, seen := int64(0), int64(0)
	for _, s := range r.steps {
		c.Add(s.sp, s.e)
		last := c.Last(s.sp)
		switch {
		case last == 0 || s.e.First <= seen:
		case !s.e.Fits || s.e.Last > last:
			seen, next = s.e.Last, 0
		default:
			if s.e.First != next {
				eligible = append(eligible, nil)
			}
			n := len(eligible) - 1
			eligible[n] = append(eligible[n], s.e)
			seen, next = s.e.Last, s.e.Last+1
		}
		if s.cut {
			c.Cut()
			r.cuts[seen] = true
		}
	}
	if r.log == own && len(r.shown) > 1 {
		if open := r.shown[len(r.shown)-1]; open.Open() {
			for _, g := range c.Ranges() {
				if g.To >= open.From-r.rules.Behind {
					rt.Fatalf("%d to %d comes closer than %d to the rewind at %d", g.From, g.To, r.rules.Behind, open.From-1)
				}
			}
		}
	}
	return c.Ranges(), eligible
}

func bytesOf(entries []compaction.Entry[int64]) (shown, hidden int64) {
	for _, e := range entries {
		if e.Shown {
			shown += e.Size
		} else {
			hidden += e.Size
		}
	}
	return shown, hidden
}

// worthy is the rule of ADR 6: at least 8 % hidden.
func worthy(shown, hidden int64) bool { return hidden > 0 && float64(hidden)/float64(shown) >= 0.08 }

// TestChooser_property reads random logs. The chosen ranges are disjoint and in order,
// contain every shown entry between their ends and no entry that has to stay out, and
// are worth it. Whatever else could have been chosen is too small or not worth it.
func TestChooser_property(t *testing.T) {
	t.Parallel()
	ranges, left := 0, 0
	const least = 100
	property.Check(t, func(rt *rapid.T) {
		r := drawReading(rt)
		chosen, eligible := r.choose(rt)
		ranges += len(chosen)
		taken := 0
		for _, run := range eligible {
			follows := false
			for rest := run; len(rest) > 0; {
				var n int
				if taken < len(chosen) && chosen[taken].From == rest[0].First {
					n = r.isRange(rt, chosen[taken], rest)
					taken, follows = taken+1, true
				} else {
					n = r.isLeft(rt, rest, follows)
					left, follows = left+1, false
				}
				rest = rest[n:]
			}
		}
		if taken != len(chosen) {
			rt.Fatalf("%d ranges of %d are made of eligible entries, in order: %+v", taken, len(chosen), chosen)
		}
	})
	t.Logf("%d ranges were chosen, %d pieces left out", ranges, left)
	if ranges < least/4 || left < least/4 {
		t.Error("these are too few")
	}
}

// isRange checks a range that begins with the first of some contiguous entries, and
// returns of how many it is made.
func (r reading) isRange(rt *rapid.T, c compaction.Range[int64], run []compaction.Entry[int64]) int {
	n := slices.IndexFunc(run, func(e compaction.Entry[int64]) bool { return e.Last == c.To }) + 1
	if n == 0 || c.Log != r.log || c.Rebuilt || c.Unfit {
		rt.Fatalf("%+v does not end with one of %+v", c, run)
	}
	var want []compaction.Entry[int64]
	for _, e := range run[:n] {
		if e.Shown {
			want = append(want, e)
		}
	}
	if !slices.Equal(want, c.Entries) {
		rt.Fatalf("%d to %d contains %+v, want what is shown: %+v", c.From, c.To, c.Entries, want)
	}
	shown, hidden := bytesOf(run[:n])
	if !worthy(shown, hidden) || shown < int64(r.rules.Bytes)/2 {
		rt.Fatalf("%d to %d is not worth it: %d bytes are shown, %d hidden", c.From, c.To, shown, hidden)
	}
	largest := int64(0) // it may be what exceeds the limit
	for _, e := range want {
		largest = max(largest, e.Size)
	}
	if most := int64(r.rules.Bytes); shown-largest >= most+most/2 {
		rt.Fatalf("%d to %d is too long: %d bytes are shown", c.From, c.To, shown)
	}
	return n
}

// isLeft checks that a piece at the beginning of some contiguous entries may be left
// out, and returns its length. A piece ends when enough is shown for a range, or with a
// cut; follows says that it follows a chosen range.
func (r reading) isLeft(rt *rapid.T, run []compaction.Entry[int64], follows bool) int {
	n := 0
	var shown, hidden int64
	for cut := false; !cut && n < len(run) && shown < int64(r.rules.Bytes); n++ {
		shown, hidden = bytesOf(run[:n+1])
		cut = r.cuts[run[n].Last]
	}
	short := shown < int64(r.rules.Bytes)/2
	if worthy(shown, hidden) && (!short || follows) {
		rt.Fatalf("%d to %d was left out: %d bytes are shown, %d hidden", run[0].First, run[n-1].Last, shown, hidden)
	}
	return n
}

// TestCovers_property compares with looking at each position.
func TestCovers_property(t *testing.T) {
	t.Parallel()
	covered := 0
	const least = 100
	property.Check(t, func(rt *rapid.T) {
		const to = 20
		held := map[int64]bool{}
		var entries []compaction.Entry[int64]
		for at := int64(1); at <= to; {
			e := compaction.Entry[int64]{First: at, Last: min(to, at+rapid.Int64Range(0, 3).Draw(rt, "more positions"))}
			if rapid.IntRange(0, 5).Draw(rt, "lacks") > 0 {
				entries = append(entries, e)
				for p := e.First; p <= e.Last; p++ {
					held[p] = true
				}
			}
			at = e.Last + 1
		}
		var shown session.Timeline
		for at := int64(1); at <= to+5; {
			r := session.Range{Log: own, From: at, To: at + rapid.Int64Range(0, 6).Draw(rt, "shown")}
			at = r.To + 2 + rapid.Int64Range(0, 5).Draw(rt, "hidden")
			if at > to+5 {
				r.To = 0
			}
			shown = append(shown, r)
		}
		from, want := rapid.Int64Range(1, to).Draw(rt, "from"), true
		for at := from; at <= to; at++ {
			want = want && (held[at] || !shown.Shows(own, at))
		}
		if want {
			covered++
		}
		if got := compaction.Covers(entries, shown, from, to); got != want {
			rt.Fatalf("%v, want %v, from %d: %+v of %+v", got, want, from, entries, shown)
		}
	})
	if covered < least/10 {
		t.Errorf("only %d compacted ranges cover what is shown", covered)
	}
}
