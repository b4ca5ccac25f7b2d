package watch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Whatever some connections do, every healthy one gets all messages of its logs in
// order, and the outcome of every other one is known.
func TestHealthyConnectionsGetEverything(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		logs := []string{"a", "b", "c"}
		l, watchers, healthy := newFakePusher(), map[string][]string{}, map[string]bool{}
		for i := range rapid.IntRange(0, 150).Draw(r, "connections") {
			name := fmt.Sprint("c", i)
			*l.at(name), healthy[name] = drawConnection(r)
			log := rapid.SampledFrom(logs).Draw(r, "log")
			watchers[log] = append(watchers[log], name)
		}
		a := newAudience(watchers)
		var news []watch.LogUpdate
		want := map[string][]string{}
		for seq := range rapid.Int64Range(1, 30).Draw(r, "news") {
			log := rapid.SampledFrom(logs).Draw(r, "log")
			news = append(news, wholeEvent(log, seq+1))
			want[log] = append(want[log], watch.Cursor{Seq: seq + 1}.String())
		}
		var took time.Duration
		var err error
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			err = errors.Join(newFanout(a, l).Deliver(t.Context(), news)...)
			took = time.Since(began)
		})
		if err != nil || took > 30*time.Second {
			r.Fatalf("after %s: %v", took, err)
		}
		for log, connections := range watchers {
			for _, name := range connections {
				checkLine(r, l.at(name), healthy[name], want[log], slices.Concat(a.left[log]...), name)
			}
		}
	})
}

// drawConnection draws a connection's behaviour and reports whether it is healthy.
func drawConnection(t *rapid.T) (fakeConnection, bool) {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		answers := make([]error, rapid.IntRange(0, 20).Draw(t, "gone after"))
		return fakeConnection{answers: append(answers, watch.ErrGone)}, false
	case 1:
		return fakeConnection{takes: time.Hour}, false
	case 2:
		return fakeConnection{answers: slices.Repeat([]error{watch.ErrThrottled}, 10_000)}, false
	case 3:
		return fakeConnection{answers: []error{errBroken}}, false
	case 4:
		n := rapid.IntRange(1, 5).Draw(t, "throttled")
		return fakeConnection{answers: slices.Repeat([]error{watch.ErrThrottled}, n)}, true
	default:
		return fakeConnection{takes: time.Duration(rapid.IntRange(0, 100).Draw(t, "ms")) * time.Millisecond}, true
	}
}

func checkLine(t *rapid.T, c *fakeConnection, healthy bool, want, left []string, name string) {
	got := cursors(t, c.got)
	if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
		t.Fatalf("%s got %v of %v", name, got, want)
	}
	all := len(got) == len(want)
	if healthy && !all {
		t.Fatalf("%s is well and got %v of %v", name, got, want)
	}
	if !all && !c.closed && !slices.Contains(left, name) {
		t.Fatalf("%s got %v of %v, and nobody did anything about it", name, got, want)
	}
	if all && c.closed {
		t.Fatalf("%s got all and was closed", name)
	}
}

// delta returns the update with one delta of the item at position 7.
func delta(offset int64, d content.Delta) watch.LogUpdate {
	return watch.LogUpdate{Log: "a", Messages: []watch.Message{{
		Type: watch.DeltaType, ItemID: "e7", Offset: &offset, Delta: &d,
		Cursor: watch.Cursor{Seq: 7, Offset: offset}, Prev: watch.Cursor{Seq: 7, Offset: offset - 1},
	}}}
}

func TestDeliverManyDeltas(t *testing.T) {
	deliver := func(t *testing.T, news []watch.LogUpdate) []string {
		t.Helper()
		a, l := newAudience(map[string][]string{"a": {"c"}}), newFakePusher()
		wantDelivered(t, newFanout(a, l).Deliver(t.Context(), news))
		return l.at("c").got
	}
	texts := func(n int) []watch.LogUpdate {
		var news []watch.LogUpdate
		for i := range n {
			news = append(news, delta(int64(i+1), content.Delta{Text: "x"}))
		}
		return news
	}
	t.Run("does not merge few deltas", func(t *testing.T) {
		if got := deliver(t, texts(16)); len(got) != 16 {
			t.Errorf("got %d", len(got))
		}
	})
	t.Run("merges many deltas, with the prev of the first", func(t *testing.T) {
		want := []string{`{"type":"item.delta","session_id":"session of a","cursor":"0.7.17","prev":"0.7.0",` +
			`"item_id":"e7","offset":17,"delta":{"part":0,"text":"xxxxxxxxxxxxxxxxx"}}`}
		if diff := cmp.Diff(want, deliver(t, texts(17))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("keeps messages between deltas in place", func(t *testing.T) {
		news := slices.Insert(texts(17), 9, wholeEvent("a", 8))
		if diff := cmp.Diff([]string{"0.7.9", "0.8.0", "0.7.17"}, cursors(t, deliver(t, news))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("does not merge a repeated delta", func(t *testing.T) {
		news := slices.Concat(texts(9), texts(9))
		if diff := cmp.Diff([]string{"0.7.9", "0.7.9"}, cursors(t, deliver(t, news))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("does not merge deltas of different parts", func(t *testing.T) {
		news := append(texts(16), delta(17, content.Delta{Part: 1, Text: "y"}), delta(18, content.Delta{Part: 1, Text: "z"}))
		if diff := cmp.Diff([]string{"0.7.16", "0.7.18"}, cursors(t, deliver(t, news))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("no frame is too large, however many deltas there are", func(t *testing.T) {
		var news []watch.LogUpdate
		for i := range int64(100) {
			news = append(news, delta(i+1, content.Delta{Text: strings.Repeat("\x01", 1000)}))
		}
		got := deliver(t, news)
		for _, frame := range got {
			if len(frame) > watch.MaxMessage || !strings.HasPrefix(frame, `{"type":"item.delta"`) {
				t.Errorf("a frame of %d bytes: %.60s", len(frame), frame)
			}
		}
		if len(got) > 10 {
			t.Errorf("got %d frames", len(got))
		}
	})
}

// Merged and separate deltas of a stream produce the same content.
func TestJoinedDeltasMakeTheSameContent(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var given []content.Delta
		var news []watch.LogUpdate
		part := 0
		for i := range rapid.IntRange(1, 60).Draw(t, "deltas") {
			if len(given) > 0 && rapid.IntRange(0, 9).Draw(t, "next part") == 0 {
				part++
			}
			given = append(given, content.Delta{Part: part, Text: rapid.StringN(0, 5, -1).Draw(t, "text")})
			news = append(news, delta(int64(i+1), given[i]))
		}
		a, l := newAudience(map[string][]string{"a": {"c"}}), newFakePusher()
		if err := errors.Join(newFanout(a, l).Deliver(t.Context(), news)...); err != nil {
			t.Fatal(err)
		}
		var got []content.Delta
		at := watch.Cursor{Seq: 7}
		for _, frame := range l.at("c").got {
			m := mustDelta(t, frame)
			if m.Prev != at {
				t.Fatalf("after %s comes %s", at, m.Prev)
			}
			got, at = append(got, m.Delta), m.Cursor
		}
		if want, have := mustSnapshot(t, given), mustSnapshot(t, got); want != have {
			t.Fatalf("want %s\ngot  %s", want, have)
		}
	})
}
