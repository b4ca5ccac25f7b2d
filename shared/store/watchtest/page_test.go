package watchtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
)

// TestPage checks docs/watching.md: a client that follows only the rules of that page
// ends with the thread, whatever changes the session and however messages arrive,
// within a bounded number of reads. It gets the bytes that the functions send, and
// calls those functions.
func TestPage(t *testing.T) {
	t.Parallel()
	sum := tally{}
	property.Check(t, func(rt *rapid.T) {
		engine, records := newTable()
		w := newPage(t, rt, newFunctions(engine), records)
		if rapid.IntRange(0, 2).Draw(rt, "begins large") == 0 {
			for _, does := range []act{w.start, w.begin, w.flushMuch, w.flushMuch, w.react, w.react} {
				w.must(rt, does(t.Context(), rt))
			}
		}
		for range rapid.IntRange(20, 80).Draw(rt, "steps") {
			w.must(rt, w.act(t.Context(), rt))
			w.must(rt, w.collect(t.Context()))
		}
		w.settle(rt)
		sum.add(w.tally)
	})
	t.Log(sum)
	if sum.large == 0 || sum.reloads == 0 || sum.doubled == 0 || sum.lost == 0 {
		t.Errorf("too few actions: %s", sum)
	}
}

// tally counts the actions.
type tally struct{ received, doubled, lost, large, reloads, reads, subscriptions int }

func (t *tally) add(o tally) {
	t.received += o.received
	t.doubled += o.doubled
	t.lost += o.lost
	t.large += o.large
	t.reloads += o.reloads
	t.reads += o.reads
	t.subscriptions += o.subscriptions
}

func (t tally) String() string {
	return fmt.Sprintf("%d messages received, %d sent twice, %d lost, %d times in a large item, %d reloads, %d threads read, %d subscriptions",
		t.received, t.doubled, t.lost, t.large, t.reloads, t.reads, t.subscriptions)
}

// settle delivers everything, some of it twice, and lets the client follow the rules
// until it is idle.
func (w *page) settle(rt *rapid.T) {
	ctx := w.t.Context()
	if rapid.IntRange(0, 5).Draw(rt, "deleted") == 0 {
		w.must(rt, w.delete(ctx, rt))
	}
	w.must(rt, w.collect(ctx))
	for len(w.news) > 0 || len(w.lanes) > 0 {
		w.must(rt, w.tell(ctx, rt))
		w.must(rt, w.hear(ctx, rt))
	}
	if w.breaking {
		w.must(rt, w.breakOff(ctx, rt))
	}
	for steps := 0; w.busy(); steps++ {
		if steps == mostAsked {
			rt.Fatalf("the client does not become idle: %s\n%s", w.client.Waiting(), strings.Join(w.trace, "\n"))
		}
		if at, waits := w.client.Asks(); waits {
			w.now = at
		}
		w.must(rt, w.react(ctx, rt))
		for len(w.lanes) > 0 {
			w.must(rt, w.hear(ctx, rt))
		}
	}
	pages, found, err := w.get(ctx, 1000)
	w.must(rt, err)
	if !found || w.client.Ended() {
		if found || !w.client.Ended() {
			rt.Fatalf("the session exists: %t, for the client: %t", found, !w.client.Ended())
		}
		return
	}
	want := shownBy(rt, pages)
	if diff := cmp.Diff(want, shown{w.client.Status, w.shows()}); diff != "" {
		rt.Fatalf("the client differs from the thread (-thread +client):\n%.4000s\n%s", diff, strings.Join(w.trace, "\n"))
	}
}

// mostAsked is how often a client may act after the last change: it reads the thread,
// subscribes, and gets messages.
const mostAsked = 12

// busy reports whether the client has something to do or to receive.
func (w *page) busy() bool {
	_, waits := w.client.Asks()
	return !w.client.Ended() && (waits || w.client.NeedsThread() || w.thread != nil || !w.connected || len(w.lanes) > 0)
}
