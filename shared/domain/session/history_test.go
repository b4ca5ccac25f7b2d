package session_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestHistory_At(t *testing.T) {
	t.Parallel()
	inherited := session.OutlineOf(session.Timeline{{Log: "old", From: 3, To: 4, Seq: 1}})
	h := session.History{
		Log: "own", Base: 2, Inherited: inherited, Marker: 9,
		Rewound: session.Outline{inherited[0], {Range: session.Range{Log: "own", From: 10, Seq: 10}}},
	}
	for name, c := range map[string]struct {
		at     session.LogPosition
		want   session.Outline
		marker int64
	}{
		"within what was taken over": {at: session.LogPosition{Log: "old", Seq: 2}, want: inherited},
		"before any rewind": {
			at:   session.LogPosition{Log: "own", Seq: 5},
			want: session.Outline{inherited[0], {Range: session.Range{Log: "own", From: 3, Seq: 3}}},
		},
		"behind the newest rewind": {at: session.LogPosition{Log: "own", Seq: 12, Marker: 9}, want: h.Rewound, marker: 9},
		"behind an older rewind":   {at: session.LogPosition{Log: "own", Seq: 8, Marker: 6}, marker: 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			then, marker := h.At(c.at)
			if diff := cmp.Diff(c.want, then); diff != "" || marker != c.marker {
				t.Errorf("marker %d, want %d; outline (-want +got):\n%s", marker, c.marker, diff)
			}
		})
	}
	never := session.History{Log: "own", Base: 2, Inherited: inherited}
	if diff := cmp.Diff(never.Whole(), never.Shown()); diff != "" {
		t.Errorf("a session that was never rewound shows less than all (-whole +shown):\n%s", diff)
	}
}

// conversation is a session and, at each position of its log, what it showed just
// before: a list of what it shows, by position and log.
type conversation struct {
	log     string
	most    int // parts of a level in an outline
	history session.History
	markers map[string]session.Outline // by log and position, of its sources too
	newest  []int64                    // by position: the newest rewind before it
	before  [][]place                  // by position
	shown   []place
	reads   int // requests for markers
}

func newConversation(log string, most int) *conversation {
	c := &conversation{log: log, most: most, history: session.History{Log: log}, markers: map[string]session.Outline{}}
	c.put() // position 0 is none
	return c
}

func spot(log string, position int64) string { return fmt.Sprintf("%s/%d", log, position) }

func (c *conversation) read(parts []session.Part) ([]session.Outline, error) {
	c.reads++
	out := make([]session.Outline, len(parts))
	for i, p := range parts {
		var ok bool
		if out[i], ok = c.markers[spot(p.Log, p.From)]; !ok {
			return nil, fmt.Errorf("%s at %d is no marker", p.Log, p.From)
		}
	}
	return out, nil
}

func (c *conversation) next() int64 { return int64(len(c.before)) }

// put stores an entry, which is not shown.
func (c *conversation) put() {
	c.before = append(c.before, slices.Clone(c.shown))
	c.newest = append(c.newest, c.history.Marker)
}

func (c *conversation) append() {
	at := c.next()
	c.put()
	c.shown = append(c.shown, place{c.log, at, at})
}

// then is what the session showed just before a position, as a rewind finds it.
func (c *conversation) then(position int64) (session.Before, error) {
	at := session.LogPosition{Log: c.log, Seq: position, Marker: c.newest[position]}
	if position <= c.history.Base {
		at.Log = "of a source"
	}
	then, marker := c.history.At(at)
	if then == nil && marker > 0 {
		then = c.markers[spot(c.log, marker)]
	}
	then, err := then.Before(position, c.read)
	return session.Before{Outline: then, Marker: marker}, err
}

// rewind rewinds to before a position, and checks the marker against the expected
// timeline.
func (c *conversation) rewind(position int64) error {
	marker := c.next()
	then, err := c.then(position)
	if err != nil {
		return err
	}
	m, err := session.Rewind{SessionID: "s", Before: "i", Nonce: "n"}.Marker(session.MarkerAt{
		ID: "e", Seq: marker, History: c.history, Then: then, Max: c.most, Read: c.read,
	}, nil)
	if err != nil {
		return err
	}
	want := c.before[position]
	common := 0
	for common < min(len(want), len(c.shown)) && want[common] == c.shown[common] {
		common++
	}
	if back := common < len(want); m.Back != back {
		return fmt.Errorf("from %v to %v: back is %t", c.shown, want, m.Back)
	}
	stays := 0 // of what is shown
	for stays < len(c.shown) && c.shown[stays].Seq <= m.ToSeq {
		stays++
	}
	if stays != common {
		return fmt.Errorf("from %v to %v: up to %d stay", c.shown, want, m.ToSeq)
	}
	c.put()
	c.shown, c.markers[spot(c.log, marker)] = slices.Clone(want), m.Outline
	c.history.Marker, c.history.Rewound = marker, m.Outline
	return c.check()
}

// check compares what the outline shows with what is shown.
func (c *conversation) check() error {
	o := c.history.Shown()
	again, err := session.DecodeOutline(o.Encode())
	if diff := cmp.Diff(o, again); diff != "" || err != nil {
		return fmt.Errorf("decoded (-want +got): %w\n%s", err, diff)
	}
	perLevel := map[int]int{}
	for _, p := range o {
		perLevel[p.Level]++
	}
	for level, n := range perLevel {
		if c.history.Base == 0 && n > c.most {
			return fmt.Errorf("%d parts of level %d: %v", n, level, o)
		}
	}
	got, err := o.Ranges(c.read)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(c.shown, places(got, c.next()-1)); diff != "" {
		return fmt.Errorf("shown (-want +got):\n%s", diff)
	}
	return nil
}

// act appends and rewinds at random: mostly it retries, which keeps what came before.
func (c *conversation) act(rt *rapid.T) {
	for range rapid.SampledFrom([]int{80, 30, 10, 3}).Draw(rt, "steps") {
		act := rapid.SampledFrom([]string{"retry", "retry", "append", "retry", "retry", "rewind"}).Draw(rt, "act")
		c.append()
		if act == "append" {
			continue
		}
		position := c.next()
		c.append()
		if act == "rewind" {
			far := rapid.SampledFrom([]int64{10, 10, 30, 10, 10, c.next()}).Draw(rt, "how far")
			position = rapid.Int64Range(max(1, c.next()-far), c.next()-1).Draw(rt, "before")
		}
		if err := c.rewind(position); err != nil {
			rt.Fatal(err)
		}
	}
}

// fork returns a fork of what the session shows before a seq.
func (c *conversation) fork(rt *rapid.T, log string, gen int64) *conversation {
	end := rapid.Int64Range(1, c.next()).Draw(rt, "fork before")
	source, shown := session.ForkSource{Shown: c.history.Shown(), Last: c.next() - 1}, c.shown
	if end < c.next() {
		then, err := c.then(end)
		if err != nil {
			rt.Fatal(err)
		}
		source.Target, source.Then, shown = end, then.Outline, c.before[end]
	}
	b, err := session.ForkOf{}.Boundary(source)
	if err != nil {
		rt.Fatal(err)
	}
	f := newConversation(log, c.most)
	f.markers = c.markers
	f.history.Inherited, f.history.Base = b.Outline.Inherited(c.log, gen)
	if rapid.Bool().Draw(rt, "kept by an item") {
		f.markers[spot(log, 0)] = f.history.Inherited
		f.history.Inherited = f.history.Inherited.Kept(log)
	}
	for _, p := range shown {
		f.put()
		f.shown = append(f.shown, place{p.Log, p.Position, f.next() - 1})
	}
	if int64(len(f.shown)) != f.history.Base {
		rt.Fatalf("%d of %d places were taken over", f.history.Base, len(f.shown))
	}
	if err := f.check(); err != nil {
		rt.Fatal(err)
	}
	got, err := f.history.Inherited.Ranges(f.read)
	for _, r := range got {
		if r.Gen == 0 || (r.Log == c.log && r.Gen != gen) {
			rt.Fatalf("generation %d of %v, %v", gen, r, err)
		}
	}
	return f
}

// Whatever is appended and rewound, a session shows what it showed just before the
// position that it went back to, a fork what its source showed, a walk what both show
// between its ends, and places what is at a seq.
func TestHistory_rewinds(t *testing.T) {
	t.Parallel()
	levels := map[int]int{}
	property.Check(t, func(rt *rapid.T) {
		c := newConversation("own", rapid.IntRange(4, 6).Draw(rt, "most"))
		c.act(rt)
		for n := range rapid.IntRange(0, 3).Draw(rt, "forks") {
			c = c.fork(rt, fmt.Sprint("fork", n), int64(n+1))
			c.act(rt)
		}
		for _, p := range c.history.Shown() {
			levels[p.Level]++
		}
		c.walk(rt)
		c.find(rt)
	})
	t.Logf("parts by level: %v", levels)
	if levels[1] < 50 || levels[2] < 10 {
		t.Error("these are too few")
	}
}

// walk walks between two seqs, in either direction.
func (c *conversation) walk(rt *rapid.T) {
	after := rapid.Int64Range(0, c.next()).Draw(rt, "after")
	before := rapid.Int64Range(0, c.next()+1).Draw(rt, "before")
	down := rapid.Bool().Draw(rt, "down")
	var want []place
	for _, p := range c.shown {
		if p.Seq > after && (before == 0 || p.Seq < before) {
			want = append(want, p)
		}
	}
	var got []place
	w := c.history.Shown().Walk(after, before, down, c.read)
	for {
		next, err := w.Next(rapid.IntRange(1, 10).Draw(rt, "wanted"))
		if err != nil {
			rt.Fatal(err)
		}
		if next == nil {
			break
		}
		if more := places(next, c.next()-1); down {
			got = append(more, got...)
		} else {
			got = append(got, more...)
		}
	}
	if before > 0 { // a cut open range may end past the head
		got = slices.DeleteFunc(got, func(p place) bool { return p.Log == c.log && p.Position >= c.next() })
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("after %d, before %d, down %t (-want +got):\n%s", after, before, down, diff)
	}
}

// find looks up some seqs at once.
func (c *conversation) find(rt *rapid.T) {
	seqs := rapid.SliceOfN(rapid.Int64Range(1, c.next()-1), 1, 5).Draw(rt, "seqs")
	places := c.history.Shown().Places(c.read)
	if err := places.Unfold(seqs); err != nil {
		rt.Fatal(err)
	}
	before := c.reads
	for _, seq := range seqs {
		r, shown, err := places.At(seq)
		i := slices.IndexFunc(c.shown, func(p place) bool { return p.Seq == seq })
		if shown != (i >= 0) || err != nil {
			rt.Fatalf("seq %d is shown: %t, %v", seq, shown, err)
		}
		if shown && (r.Log != c.shown[i].Log || r.From+seq-r.Seq != c.shown[i].Position) {
			rt.Fatalf("seq %d is in %v, want %v", seq, r, c.shown[i])
		}
	}
	if c.reads > before {
		rt.Fatalf("%d more requests for %v", c.reads-before, seqs)
	}
}

// TestOutline_size bounds the outline of a session that was rewound often and has kept
// some of what came in between, and the requests for a page of it.
func TestOutline_size(t *testing.T) {
	t.Parallel()
	const most = 16
	for _, n := range []int64{1, 100, 1000, 10000} {
		c := newConversation("own", most)
		o, marker := session.OutlineOf(session.NewTimeline("own")), int64(0)
		last := int64(0)
		for range n { // each rewind hides one of two turns of two events
			then, err := o.Before(last+3, c.read)
			if err != nil {
				t.Fatal(err)
			}
			next := last + 5
			o = then.Reopened("own", next+1).Folded("own", marker, most)
			c.markers[spot("own", next)] = o
			marker, last = next, next
		}
		if size := len(o.Encode()); size > 500 {
			t.Errorf("%d bytes after %d rewinds", size, n)
		}
		all, err := o.Ranges(c.read)
		if err != nil || int64(len(all)) != n+1 {
			t.Errorf("%d ranges after %d rewinds: %v", len(all), n, err)
		}
		for _, seq := range []int64{1, last / 2, last} {
			for _, down := range []bool{false, true} {
				c.reads = 0
				w := o.Walk(seq-1, 0, false, c.read)
				if down {
					w = o.Walk(0, seq+1, true, c.read)
				}
				if next, err := w.Next(50); err != nil || len(next) == 0 {
					t.Errorf("the page at %d, %v: %v", seq, next, err)
				}
				if c.reads > 6 {
					t.Errorf("%d requests for the page at %d, after %d rewinds", c.reads, seq, n)
				}
			}
		}
	}
}
