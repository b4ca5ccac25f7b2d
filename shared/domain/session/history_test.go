package session_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestHistory_Before(t *testing.T) {
	t.Parallel()
	inherited := session.Timeline{{Log: "old", From: 3, To: 4, Seq: 1}}
	h := session.History{
		Log: "own", Base: 2, Inherited: inherited, Marker: 9,
		Rewound: session.Timeline{inherited[0], {Log: "own", From: 10, Seq: 10}},
	}
	for name, c := range map[string]struct {
		at    session.LogPosition
		want  session.Timeline
		older int64
	}{
		"within what was taken over": {at: session.LogPosition{Log: "old", Seq: 2}, want: session.Timeline{{Log: "old", From: 3, To: 3, Seq: 1}}},
		"before any rewind": {
			at:   session.LogPosition{Log: "own", Seq: 5},
			want: session.Timeline{inherited[0], {Log: "own", From: 3, To: 4, Seq: 3}},
		},
		"behind the newest rewind": {
			at:   session.LogPosition{Log: "own", Seq: 12, Marker: 9},
			want: session.Timeline{inherited[0], {Log: "own", From: 10, To: 11, Seq: 10}},
		},
		"behind an older rewind": {at: session.LogPosition{Log: "own", Seq: 8, Marker: 6}, older: 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			then, older := h.Before(c.at)
			if diff := cmp.Diff(c.want, then); diff != "" || older != c.older {
				t.Errorf("older %d, want %d; timeline (-want +got):\n%s", older, c.older, diff)
			}
		})
	}
	never := session.History{Log: "own", Base: 2, Inherited: inherited}
	if diff := cmp.Diff(never.Whole(), never.Shown()); diff != "" {
		t.Errorf("a session that was never rewound shows less than all (-whole +shown):\n%s", diff)
	}
}

// conversation is a session and, at each position of its log, what it showed just
// before: a list of seqs.
type conversation struct {
	history session.History
	markers map[int64]session.Timeline
	newest  []int64   // by position: the newest rewind before it
	before  [][]int64 // by position
	shown   []int64
}

func (c *conversation) next() int64 { return int64(len(c.before)) }

func (c *conversation) append() {
	c.before = append(c.before, slices.Clone(c.shown))
	c.newest = append(c.newest, c.history.Marker)
}

// then is what the session showed just before a position, as a rewind finds it.
func (c *conversation) then(position int64) session.Timeline {
	then, older := c.history.Before(session.LogPosition{Log: "own", Seq: position, Marker: c.newest[position]})
	if older > 0 {
		then = c.markers[older].Before(position)
	}
	return then
}

// seqs are the seqs that a timeline shows before a position of the own log.
func seqs(t session.Timeline, end int64) []int64 {
	var out []int64
	for _, r := range t.Before(end) {
		for seq := r.Seq; seq <= r.Last(); seq++ {
			out = append(out, seq)
		}
	}
	return out
}

// rewind rewinds to before a position, and checks the marker against the expected
// timeline.
func (c *conversation) rewind(position int64) error {
	marker := c.next()
	m, err := session.Rewind{SessionID: "s", Before: "i", Nonce: "n"}.Marker(session.MarkerAt{
		ID: "e", Seq: marker, History: c.history, Then: c.then(position),
	}, nil)
	if err != nil {
		return err
	}
	want := c.before[position]
	common := 0
	for common < min(len(want), len(c.shown)) && want[common] == c.shown[common] {
		common++
	}
	if got := seqs(m.Timeline, marker+1); !slices.Equal(got, want) {
		return fmt.Errorf("rewound to %v, want %v", got, want)
	}
	if back := common < len(want); m.Back != back {
		return fmt.Errorf("from %v to %v: back is %t", c.shown, want, m.Back)
	}
	stays := 0 // of what is shown
	for stays < len(c.shown) && c.shown[stays] <= m.ToSeq {
		stays++
	}
	if stays != common {
		return fmt.Errorf("from %v to %v: up to %d stay", c.shown, want, m.ToSeq)
	}
	c.append()
	c.shown, c.markers[marker] = slices.Clone(want), m.Timeline
	c.history.Marker, c.history.Rewound = marker, m.Timeline
	return nil
}

// Whatever is appended and rewound, a session shows what it showed just before the
// position that it went back to.
func TestHistory_rewinds(t *testing.T) {
	t.Parallel()
	property.Check(t, func(rt *rapid.T) {
		c := &conversation{history: session.History{Log: "own"}, markers: map[int64]session.Timeline{}}
		c.append() // position 0 is none
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			if c.next() == 1 || rapid.IntRange(0, 2).Draw(rt, "step") > 0 {
				c.append()
				c.shown = append(c.shown, c.next()-1)
				continue
			}
			position := rapid.Int64Range(1, c.next()-1).Draw(rt, "before")
			if err := c.rewind(position); err != nil {
				rt.Fatal(err)
			}
		}
		if got := seqs(c.history.Shown(), c.next()); !slices.Equal(got, c.shown) {
			rt.Fatalf("shows %v, want %v", got, c.shown)
		}
	})
}
