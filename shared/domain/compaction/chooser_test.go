package compaction_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/session"
)

const own = "own"

// ranges returns the ranges of a log that begin and end at pairs of positions.
func ranges(log string, positions ...int64) session.Timeline {
	var out session.Timeline
	for pair := range slices.Chunk(positions, 2) {
		out = append(out, session.Range{Log: log, From: pair[0], To: pair[1], Seq: pair[0]})
	}
	return out
}

// spanOf returns the span of some ranges of a log.
func spanOf(shown session.Timeline) compaction.Span {
	return compaction.Span{Log: shown[0].Log, Shown: shown, From: shown[0].From, To: shown[len(shown)-1].To}
}

// entry returns an entry that a span shows, if it does, with one position and a size.
func entry(sp compaction.Span, at, size int64) compaction.Entry[int64] {
	return compaction.Entry[int64]{First: at, Last: at, Size: size, Shown: sp.Shown.Shows(sp.Log, at), Fits: true, Of: at}
}

// chosenOf returns the positions of chosen ranges: first, last, and what they contain.
func chosenOf(c *compaction.Chooser[int64]) [][]int64 {
	var out [][]int64
	for _, r := range c.Ranges() {
		in := []int64{r.From, r.To}
		for _, e := range r.Entries {
			in = append(in, e.Of)
		}
		out = append(out, in)
	}
	return out
}

func TestChooser(t *testing.T) {
	t.Parallel()
	rules := compaction.Rules{Bytes: 20, Page: 5, Behind: 2}
	for name, c := range map[string]struct {
		shown       session.Timeline
		upTo, unfit int64
		most        int
		size        int64
		want        [][]int64
	}{
		"a range ends with the entry that reaches the limit of bytes": {
			shown: ranges(own, 1, 1, 3, 4, 20, 0), upTo: 4, size: 10, want: [][]int64{{1, 3, 1, 3}},
		},
		"a short rest joins the range before it": {
			shown: ranges(own, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 20, 0), upTo: 9, size: 6, want: [][]int64{{1, 9, 1, 3, 5, 7, 9}},
		},
		"no more ranges than a page may compact": {
			shown: ranges(own, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 30, 0), upTo: 11, size: 10, most: 2, want: [][]int64{{1, 3, 1, 3}, {4, 7, 5, 7}},
		},
		"a short rest is left out if the range before it was": {
			shown: ranges(own, 1, 4, 6, 6, 20, 0), upTo: 6, size: 6, want: nil,
		},
		"positions near the latest rewind stay out": {
			shown: ranges(own, 1, 1, 3, 3, 5, 0), upTo: 9, size: 10, want: [][]int64{{1, 2, 1}},
		},
		"a range ends before an entry that does not fit": {
			shown: ranges(own, 1, 1, 3, 8, 20, 0), upTo: 8, size: 10, unfit: 3, want: [][]int64{{1, 2, 1}},
		},
		"too little is hidden": {
			shown: ranges("source", 1, 30, 40, 50), upTo: 30, size: 10, want: nil,
		},
		"a source's log has no positions near a rewind": {
			shown: ranges("source", 1, 1, 3, 3), upTo: 3, size: 10, want: [][]int64{{1, 3, 1, 3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := rules
			rules.Max = c.most
			chooser := compaction.New[int64](rules, own, session.OutlineOf(c.shown))
			sp := spanOf(c.shown)
			for at := int64(1); at <= c.upTo; at++ {
				e := entry(sp, at, c.size)
				e.Fits = at != c.unfit
				chooser.Add(sp, e)
			}
			if d := cmp.Diff(c.want, chosenOf(chooser)); d != "" {
				t.Errorf("chosen (-want +got):\n%s", d)
			}
		})
	}
	t.Run("a timeline without gaps and rules of no bytes choose nothing", func(t *testing.T) {
		t.Parallel()
		for _, chooser := range []*compaction.Chooser[int64]{
			compaction.New[int64](rules, own, session.OutlineOf(ranges(own, 1, 0))),
			compaction.New[int64](compaction.Rules{}, own, session.OutlineOf(ranges(own, 1, 3, 5, 0))),
		} {
			if chooser != nil {
				t.Errorf("a chooser: %+v", chooser)
			}
			chooser.Cut()
			if got := chooser.Ranges(); got != nil {
				t.Errorf("chosen: %v", got)
			}
		}
	})
}

func TestChooser_Search(t *testing.T) {
	t.Parallel()
	rules := compaction.Rules{Bytes: 20, Page: 5, Behind: 2}
	for name, c := range map[string]struct {
		shown session.Timeline
		room  int
		last  int64
		want  bool
	}{
		"a tenth is hidden":                          {ranges(own, 1, 10, 12, 20, 25, 0), 5, 22, true},
		"a page with room for too few events":        {ranges(own, 1, 10, 12, 20, 25, 0), 4, 22, false},
		"hidden positions before the rewind only":    {ranges(own, 1, 60, 63, 0), 5, 60, false},
		"a log that begins with the latest rewind":   {ranges(own, 1, 1, 3, 0), 5, 0, false},
		"a source's log, which has no latest rewind": {ranges("source", 1, 1, 3, 3), 5, 3, true},
		"eight of a hundred hidden":                  {ranges("source", 1, 50, 59, 108), 5, 108, true},
		"seven of a hundred hidden":                  {ranges("source", 1, 50, 58, 107), 5, 107, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chooser := compaction.New[int64](rules, own, session.OutlineOf(c.shown))
			if last, ok := chooser.Search(spanOf(c.shown), c.room); last != c.last || ok != c.want {
				t.Errorf("%d, %v, want %d, %v", last, ok, c.last, c.want)
			}
		})
	}
}

func TestChooser_Rebuild(t *testing.T) {
	t.Parallel()
	rules := compaction.Rules{Bytes: 20, Page: 5, Behind: 2}
	shown := ranges("source", 2, 2, 4, 6)
	had := []compaction.Entry[int64]{entry(spanOf(ranges("source", 1, 4)), 1, 10), entry(spanOf(ranges("source", 1, 4)), 4, 10)}
	rebuilt := func(unfit int64, whole bool) *compaction.Chooser[int64] {
		chooser := compaction.New[int64](rules, own, session.OutlineOf(shown))
		chooser.Rebuild("source", 1, 5, had)
		for at := int64(2); at <= 5; at++ {
			e := entry(spanOf(shown), at, 10)
			e.Fits = at != unfit
			chooser.Add(spanOf(shown), e)
		}
		chooser.EndRebuild(whole)
		return chooser
	}
	t.Run("adds what is shown to what the range had", func(t *testing.T) {
		t.Parallel()
		c := rebuilt(3, true) // which is hidden
		if d := cmp.Diff([][]int64{{1, 5, 1, 2, 4, 5}}, chosenOf(c)); d != "" {
			t.Errorf("chosen (-want +got):\n%s", d)
		}
		if r := c.Ranges()[0]; !r.Rebuilt || r.Unfit {
			t.Errorf("rebuilt %v, unfit %v", r.Rebuilt, r.Unfit)
		}
		if len(had) != 2 {
			t.Errorf("the entries it was given are %v now", had)
		}
	})
	t.Run("reports a range with an entry that does not fit", func(t *testing.T) {
		t.Parallel()
		if r := rebuilt(2, true).Ranges(); len(r) != 1 || !r[0].Rebuilt || !r[0].Unfit {
			t.Errorf("chosen: %+v", r)
		}
	})
	t.Run("chooses nothing if the page ended before the range did", func(t *testing.T) {
		t.Parallel()
		if r := rebuilt(0, false).Ranges(); len(r) != 0 {
			t.Errorf("chosen: %+v", r)
		}
	})
	t.Run("a short rest does not join the range", func(t *testing.T) {
		t.Parallel()
		c := rebuilt(0, true)
		for at := int64(6); at <= 7; at++ { // 7 is hidden
			c.Add(compaction.Span{Log: "source", Shown: shown, From: 2, To: 7}, entry(spanOf(shown), at, 5))
		}
		if d := cmp.Diff([][]int64{{1, 5, 1, 2, 4, 5}}, chosenOf(c)); d != "" {
			t.Errorf("chosen (-want +got):\n%s", d)
		}
	})
}

func TestWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ room, ranges, entries, want int }{
		{100, 0, 0, 2}, {100, 2, 40, 5}, {10, 2, 40, 1}, {9, 2, 40, 0}, {0, 2, 40, 0},
	} {
		if got := compaction.Wanted(c.room, c.ranges, c.entries); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
