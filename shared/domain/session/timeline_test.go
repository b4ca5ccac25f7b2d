package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/session"
)

// place is a position of a log and its seq in the session.
type place struct {
	Log      string
	Position int64
	Seq      int64
}

// places lists what a timeline shows if the log of its open range ends at head.
func places(tl session.Timeline, head int64) []place {
	var out []place
	for _, r := range tl {
		to := r.To
		if r.Open() {
			to = head
		}
		for p := r.From; p <= to; p++ {
			out = append(out, place{r.Log, p, r.Seq + p - r.From})
		}
	}
	return out
}

// timelines generates what forks and rewinds can produce: closed ranges with gaps
// in their numbers, as a rewind leaves them, and an open one at the end.
func timelines() *rapid.Generator[session.Timeline] {
	return rapid.Custom(func(t *rapid.T) session.Timeline {
		var tl session.Timeline
		seq := int64(1)
		for range rapid.IntRange(0, 4).Draw(t, "closed") {
			from := rapid.Int64Range(1, 9).Draw(t, "from")
			n := rapid.Int64Range(1, 5).Draw(t, "length")
			log := rapid.SampledFrom([]string{"parent", "own"}).Draw(t, "log")
			tl = append(tl, session.Range{Log: log, From: from, To: from + n - 1, Seq: seq})
			seq += n + rapid.Int64Range(0, 3).Draw(t, "hidden")
		}
		return append(tl, session.Range{Log: "own", From: rapid.Int64Range(1, 9).Draw(t, "open"), Seq: seq})
	})
}

func TestTimelineCuts(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		tl := timelines().Draw(t, "timeline")
		head := tl[len(tl)-1].From - 1 + rapid.Int64Range(0, 6).Draw(t, "open length")
		n := rapid.Int64Range(0, 40).Draw(t, "n")
		var after, before []place
		for _, p := range places(tl, head) {
			if p.Seq > n {
				after = append(after, p)
			}
			if p.Seq < n {
				before = append(before, p)
			}
		}
		whole := append(session.Timeline{}, tl...)
		if diff := cmp.Diff(after, places(tl.After(n), head)); diff != "" {
			t.Fatalf("after %d (-want +got):\n%s", n, diff)
		}
		// A cut open range is closed and may end past the head.
		var got []place
		for _, p := range places(tl.Before(n), head) {
			if p.Log != "own" || p.Position <= head || p.Seq < tl[len(tl)-1].Seq {
				got = append(got, p)
			}
		}
		if diff := cmp.Diff(before, got); diff != "" {
			t.Fatalf("before %d (-want +got):\n%s", n, diff)
		}
		if diff := cmp.Diff(whole, tl); diff != "" {
			t.Fatalf("cutting changed the timeline:\n%s", diff)
		}
	})
}

func TestOwnTimeline(t *testing.T) {
	tl := session.NewTimeline("log")
	want := []place{{"log", 1, 1}, {"log", 2, 2}, {"log", 3, 3}}
	if diff := cmp.Diff(want, places(tl, 3)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !tl[0].Open() || tl[0].Last() != 0 {
		t.Errorf("not open: %+v", tl)
	}
	if last := (session.Range{From: 4, To: 6, Seq: 10}).Last(); last != 12 {
		t.Errorf("last seq of a closed range: %d", last)
	}
}

func TestOutline_Without(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		tl := timelines().Draw(t, "timeline")
		outline := session.OutlineOf(tl)
		head := tl[len(tl)-1].From - 1 + rapid.Int64Range(0, 6).Draw(t, "open length")
		log := rapid.SampledFrom([]string{"parent", "own", "another"}).Draw(t, "log")
		position := min(rapid.Int64Range(1, 15).Draw(t, "position"), head) // positions after the head do not occur
		var want []place
		for _, p := range places(tl, head) {
			if p.Log != log || p.Position != position {
				want = append(want, p)
			}
		}
		got, err := outline.Without(log, position).Ranges(nil)
		if diff := cmp.Diff(want, places(got, head)); diff != "" || err != nil {
			t.Fatalf("without %s %d (-want +got): %v\n%s", log, position, err, diff)
		}
		if diff := cmp.Diff(session.OutlineOf(tl), outline); diff != "" {
			t.Fatalf("the outline itself changed (-want +got):\n%s", diff)
		}
	})
}
