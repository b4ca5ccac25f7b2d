package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	lifecycle "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
)

// TestWatchersMissNothing lets writers of an item in progress and watchers take turns
// of one request each; any of them may die. Once a writer that lives has written again,
// each watcher has every delta, from its catch-up or from the records that the fan-out
// gets.
func TestWatchersMissNothing(t *testing.T) {
	t.Parallel()
	begin := newStage(t)
	s := limited(begin.engine)
	if _, err := s.Sessions.Create(t.Context(), session.New{ID: "s", UserID: runner, AppName: "app", Nonce: "s"}); err != nil {
		t.Fatal(err)
	}
	start := lifecycle.Start{Ref: refTo(first), Mode: lifecycle.External, Input: []session.Event{saying("question", first)}}
	if _, err := s.Runs.Start(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	begin.keep()
	n := number{all: 800, few: 8}
	n.times(t, func(t *testing.T, i int) {
		t.Helper()
		st := begin.fresh(t)
		a := newStreamedItem(t, st)
		a.play(property.Rand(t, i))
		a.holds()
	})
}

// streamedItem is an item in progress, with its writers and watchers.
type streamedItem struct {
	t        *testing.T
	st       *stage
	fan      *fanned
	random   *rand.Rand
	stored   []string // the texts of flushes that succeeded
	watchers []*watching
	story    strings.Builder
}

// watching is what one watcher has read.
type watching struct {
	*caller
	caughtUp []watch.Message
	left     bool // it has unsubscribed
}

func newStreamedItem(t *testing.T, st *stage) *streamedItem {
	t.Helper()
	a := &streamedItem{t: t, st: st, fan: newFanned(t, st)}
	st.engine = a.fan.engine
	return a
}

// play lets the callers take turns at random.
func (a *streamedItem) play(random *rand.Rand) {
	a.random = random
	at := []*caller{a.writer("x"), a.pusher("y")}
	for i := range 1 + random.IntN(3) {
		w := a.watcher(fmt.Sprint("watcher", i), random.IntN(5) == 0)
		a.watchers, at = append(a.watchers, w), append(at, w.caller)
	}
	for len(at) > 0 {
		i := random.IntN(len(at))
		// Some callers are much slower than others.
		for range 1 + random.IntN(4)*random.IntN(4) {
			if random.IntN(80) == 0 {
				at[i].die()
				fmt.Fprintf(&a.story, "%s dies. ", at[i].name)
			}
			if !at[i].turn() {
				at = append(at[:i], at[i+1:]...)
				break
			}
			a.story.WriteString(at[i].name + " ")
		}
	}
	last := open(a.fan.engine)
	if err := a.push(a.t.Context(), last, "[last]"); err != nil {
		a.t.Errorf("%s: the last push: %v", &a.story, err)
	}
}

// writer stores deltas like a worker: it keeps the item.
func (a *streamedItem) writer(name string) *caller {
	texts := a.texts(name, 6)
	return a.st.call(name, func(ctx context.Context, s *stores.Store) error {
		it, err := s.Runs.BeginItem(ctx, refTo(first), opening())
		for _, text := range texts {
			if err == nil {
				err = a.flush(ctx, it, text)
			}
		}
		return err
	})
}

// pusher stores deltas like an external agent: each push finds the item.
func (a *streamedItem) pusher(name string) *caller {
	texts := a.texts(name, 3)
	return a.st.call(name, func(ctx context.Context, s *stores.Store) error {
		for _, text := range texts {
			if err := a.push(ctx, s, text); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *streamedItem) push(ctx context.Context, s *stores.Store, text string) error {
	it, err := s.Runs.OpenItem(ctx, refTo(first), "answer")
	if err == nil && it == nil {
		it, err = s.Runs.BeginItem(ctx, refTo(first), opening())
	}
	if err != nil {
		return err
	}
	return a.flush(ctx, it, text)
}

// flush stores a text. One caller at a time gets its answer.
func (a *streamedItem) flush(ctx context.Context, it lifecycle.Item, text string) error {
	_, err := it.Flush(ctx, []content.Delta{{Text: text}})
	if err == nil {
		a.stored = append(a.stored, text)
	}
	return err
}

// texts are distinct, and fill a segment in one to three flushes.
func (a *streamedItem) texts(name string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("[%s%d]%s", name, i, strings.Repeat(".", 300+a.random.IntN(500)))
	}
	return out
}

func opening() session.Event {
	e := said("")
	e.ID, e.Fields["content"] = "answer", []byte(`{"role":"model"}`)
	return e
}

// watcher subscribes and catches up.
func (a *streamedItem) watcher(name string, leaves bool) *watching {
	w := &watching{left: leaves}
	w.caller = a.st.call(name, func(ctx context.Context, s *stores.Store) error {
		err := s.Subscriptions.Subscribe(ctx, watch.Subscription{SessionID: "s", Owner: runner, Connection: name, Expires: 1 << 40})
		if err != nil {
			return err
		}
		if w.caughtUp, err = s.Watching.CatchUp(ctx, runner, "s", watch.From{}); err != nil || !leaves {
			return err
		}
		return s.Subscriptions.Unsubscribe(ctx, runner, "s", name)
	})
	return w
}

// holds checks that each text is stored once, and that each watcher that has caught up
// and stayed has every delta.
func (a *streamedItem) holds() {
	a.t.Helper()
	th, err := a.st.store.Runs.Thread(a.t.Context(), runner, "s", lifecycle.ThreadQuery{Limit: session.DefaultPage})
	if err != nil {
		a.t.Fatal(err)
	}
	item := th.Items[len(th.Items)-1]
	for _, text := range a.stored {
		if n := strings.Count(string(item.Fields["content"]), text[:strings.Index(text, "]")+1]); n != 1 {
			a.t.Errorf("%s: %q is stored %d times", &a.story, text[:3], n)
		}
	}
	for _, w := range a.watchers {
		switch {
		case w.err != nil && !errors.Is(w.err, errDied) && !errors.Is(w.err, fault.Of(fault.Conflict)):
			a.t.Errorf("%s: %s: %v", &a.story, w.name, w.err)
		case w.err == nil && !w.left:
			a.hasAll(w, item.Deltas)
		}
	}
}

func (a *streamedItem) hasAll(w *watching, deltas int64) {
	a.t.Helper()
	has := map[int64]bool{}
	for _, m := range append(w.caughtUp, a.fan.sent[w.name]...) {
		if m.ItemID != "answer" {
			continue
		}
		if m.Type == watch.DeltaType {
			has[m.Cursor.Offset] = true
			continue
		}
		for n := range m.Item.Deltas + 1 { // with the item itself, as 0
			has[n] = true
		}
	}
	for n := range deltas + 1 {
		if !has[n] {
			a.t.Errorf("%s: %s lacks delta %d of %d", &a.story, w.name, n, deltas)
		}
	}
}
