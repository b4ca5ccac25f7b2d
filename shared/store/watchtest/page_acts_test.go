package watchtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/e2e/pageclient"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

type act = func(context.Context, *rapid.T) error

// choice is an action, and how often it is chosen compared with others.
type choice struct {
	name   string
	weight int
	does   act
}

// choices returns the actions that are possible now.
func (w *page) choices() []choice {
	out := []choice{
		{"append", 2, w.append},
		{"append much", 1, w.appendMuch},
		{"append many", 1, w.appendMany},
		{"fork", 1, w.fork},
		{"wait", 2, w.wait},
		{"start", 2, w.start},
	}
	add := func(may bool, more ...choice) {
		if may {
			out = append(out, more...)
		}
	}
	add(w.active == nil, choice{"start at rest", 4, w.start})
	add(w.active != nil, choice{"end", 1, w.end}, choice{"cancel", 1, w.cancel}, choice{"take over", 2, w.takeOver})
	add(w.active != nil && w.item == nil, choice{"begin", 8, w.begin})
	add(w.item != nil, choice{"flush", 6, w.flush}, choice{"flush much", 4, w.flushMuch},
		choice{"complete", 1, w.complete}, choice{"complete as it came", 2, w.finish})
	add(len(w.invocations) > 0, choice{"rewind", 1, w.rewind})
	add(len(w.news) > 0, choice{"tell", 12, w.tell})
	add(len(w.delivered) > 0, choice{"tell twice", 3, w.tellTwice})
	add(len(w.lanes) > 0, choice{"hear", 12, w.hear}, choice{"lose", 1, w.lose})
	add(w.connected, choice{"break", 1, w.breakOff})
	add(w.busy(), choice{"react", 8, w.react})
	return out
}

// act performs one of them.
func (w *page) act(ctx context.Context, rt *rapid.T) error {
	return w.choose(ctx, rt, w.choices())
}

// choose performs one of some choices.
func (w *page) choose(ctx context.Context, rt *rapid.T, choices []choice) error {
	var each []int
	for i, c := range choices {
		each = append(each, slices.Repeat([]int{i}, c.weight)...)
	}
	c := choices[rapid.SampledFrom(each).Draw(rt, "act")]
	w.note("- %s", c.name)
	return c.does(ctx, rt)
}

// many is rarely true, for actions that take long.
func many(rt *rapid.T) bool { return rapid.IntRange(0, 2).Draw(rt, "indeed") == 0 }

// flushMuch grows the item in progress by more than fits into a message.
func (w *page) flushMuch(ctx context.Context, rt *rapid.T) error {
	if w.item == nil || w.item.Content().Size() > 500_000 {
		return nil
	}
	parts := w.item.Content().Parts()
	var deltas []content.Delta
	for range rapid.IntRange(5, 9).Draw(rt, "deltas") {
		d := content.Delta{Part: max(0, parts-rapid.IntRange(0, 1).Draw(rt, "back")), Text: strings.Repeat("large ", 3000)}
		parts = max(parts, d.Part+1)
		deltas = append(deltas, d)
	}
	_, err := w.item.Flush(ctx, deltas)
	return err
}

// finish completes the item with its content so far.
func (w *page) finish(ctx context.Context, _ *rapid.T) error {
	if w.item == nil {
		return nil
	}
	it := w.item
	w.item = nil
	content, err := it.Content().Finish()
	if err != nil {
		return err
	}
	_, err = it.Complete(ctx, session.Event{Author: "agent", Fields: map[string]json.RawMessage{"content": content}})
	return err
}

// appendMuch appends an event that does not fit into a message.
func (w *page) appendMuch(ctx context.Context, rt *rapid.T) error {
	if !many(rt) {
		return nil
	}
	return w.appendAll(ctx, w.event(strings.Repeat("large ", 25_000)))
}

// appendMany appends more events than two catch-ups return.
func (w *page) appendMany(ctx context.Context, rt *rapid.T) error {
	if !many(rt) {
		return nil
	}
	events := make([]session.Event, 60)
	for i := range events {
		events[i] = w.event("one of many ")
	}
	return w.appendAll(ctx, events...)
}

func (w *page) appendAll(ctx context.Context, events ...session.Event) error {
	_, _, err := w.functions.store.Sessions.Append(ctx, session.Append{SessionID: w.id, UserID: watched, Events: events})
	return err
}

// fork continues with a fork of the session, which a client begins to watch.
func (w *page) fork(ctx context.Context, rt *rapid.T) error {
	if !many(rt) {
		return nil
	}
	f := session.ForkOf{UserID: watched, SessionID: w.id, ID: uuid.NewString(), Nonce: fmt.Sprint("fork", w.n)}
	w.n++
	if len(w.invocations) > 0 && rapid.Bool().Draw(rt, "at an invocation") {
		before := rapid.SampledFrom(w.invocations).Draw(rt, "before")
		f.Before = &before
	}
	if _, err := w.functions.store.History.Fork(ctx, f); err != nil {
		return err
	}
	log, err := w.functions.store.Subscriptions.LogOf(ctx, watched, f.ID)
	if err != nil {
		return err
	}
	w.id, w.log, w.client = f.ID, log, pageclient.New()
	w.active, w.item, w.invocations = nil, nil, nil
	w.news, w.delivered, w.thread = nil, nil, nil
	w.happens()
	return w.breakOff(ctx, rt)
}

// delete deletes the session.
func (w *page) delete(ctx context.Context, _ *rapid.T) error {
	w.happens()
	return w.functions.store.Sessions.Delete(ctx, watched, w.id)
}
