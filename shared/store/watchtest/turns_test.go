package watchtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/e2e/pageclient"
	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// TestTurns checks streams of server-sent events: a reader that applies messages in
// order of arrival, turn after turn, from the id of the last event, ends with the
// thread, wherever a turn ends, and gets nothing twice but what its id did not reach:
// events behind an item that grows have the item's id.
func TestTurns(t *testing.T) {
	t.Parallel()
	sum := turnsTally{}
	property.Check(t, func(rt *rapid.T) {
		engine, records := newTable()
		w := &turns{page: newPage(t, rt, newFunctions(engine), records), reader: newReader()}
		w.must(rt, w.begin(t.Context()))
		for range rapid.IntRange(20, 80).Draw(rt, "steps") {
			w.must(rt, w.step(t.Context(), rt))
			w.must(rt, w.collect(t.Context()))
		}
		w.settle(rt)
		w.Takeovers = w.takeovers
		sum.add(w.turnsTally)
	})
	t.Logf("%+v", sum)
	if sum.Turns < 500 || sum.Reloads < 5 || sum.AtAnEnd < 100 || sum.Ahead < 10 || sum.Takeovers < 20 {
		t.Errorf("too few actions: %+v", sum)
	}
}

type turnsTally struct {
	Turns, Forwarded int
	Takeovers        int
	// Repeats are messages that were sent again because the id is within an item that
	// still grows, with all later ones.
	Repeats int
	Reloads int
	// Ahead are those that were sent again after that item had ended, because the
	// reader's id had not reached them.
	Ahead   int
	AtAnEnd int // turns that continued from the end of a streamed item
}

func (t *turnsTally) add(o turnsTally) {
	t.Turns += o.Turns
	t.Forwarded += o.Forwarded
	t.Repeats += o.Repeats
	t.Ahead += o.Ahead
	t.Reloads += o.Reloads
	t.Takeovers += o.Takeovers
	t.AtAnEnd += o.AtAnEnd
}

// turns is a session that a reader of server-sent events watches.
type turns struct {
	*page
	turnsTally
	order   *order.Order
	reader  *reader
	over    error // why the turn has ended
	growing bool  // it began within an item
}

// step changes the session, delivers something, or ends the turn.
func (w *turns) step(ctx context.Context, rt *rapid.T) error {
	var choices []choice
	for _, c := range w.choices() {
		switch c.name {
		case "hear", "react", "lose", "break", "fork", "append many", "append much", "rewind":
		default:
			choices = append(choices, c)
		}
	}
	if len(w.lanes) > 0 {
		choices = append(choices, choice{"hear", 20, w.hear})
	}
	choices = append(choices,
		choice{"all arrives", 8, w.allArrives}, choice{"end the turn", 10, w.next},
		choice{"lose the websocket", 1, w.reopen}, choice{"rewind now and then", 1, w.rarelyRewind},
		choice{"an item comes whole", 5, w.itemWhole}, choice{"an item ends between turns", 2, w.endBetweenTurns})
	return w.choose(ctx, rt, choices)
}

// begin begins a turn from the last id that the reader has.
func (w *turns) begin(ctx context.Context) error {
	hasStatus := w.order != nil && w.order.CaughtUp()
	w.over, w.Turns = nil, w.Turns+1
	w.order = order.New(w.forward, func() time.Time { return w.now })
	if w.reader.last != "" {
		at, err := watch.ParseCursor(w.reader.last)
		if err != nil {
			return err
		}
		w.order.Resume(at, hasStatus)
		if at.Offset > 0 && !w.reader.grows(at.Seq) {
			w.AtAnEnd++
		}
	}
	w.note("a turn from %q, with the status %t", w.reader.last, hasStatus)
	return w.follow(ctx, w.reader.position())
}

// follow subscribes on its own connection.
func (w *turns) follow(ctx context.Context, from string) error {
	at, err := watch.ParseCursor(from)
	if err != nil {
		return err
	}
	w.growing = w.reader.grows(at.Seq) || at.Offset == 0 && w.reader.empty(at.Seq)
	w.lanes, w.connection = nil, uuid.NewString()[:16]
	w.posts.open(w.connection)
	w.order.Subscribed()
	err = w.functions.send(ctx, w.connection, map[string]string{
		"action": "subscribe", "session_id": w.id, "cursor": from, "request_id": "stream",
	})
	w.send(w.posts.sent())
	return err
}

// next ends the turn and begins another. Messages on their way are lost.
func (w *turns) next(ctx context.Context, _ *rapid.T) error { return w.begin(ctx) }

// reopen continues with another websocket within the turn.
func (w *turns) reopen(ctx context.Context, _ *rapid.T) error {
	from := w.reader.position()
	if at, ok := w.order.Cursor(); ok {
		from = at.String()
	}
	w.note("another websocket from %s", from)
	return w.follow(ctx, from)
}

func (w *turns) hear(ctx context.Context, rt *rapid.T) error {
	for n := rapid.IntRange(1, 8).Draw(rt, "messages"); n > 0 && len(w.lanes) > 0; n-- {
		if err := w.take(ctx, w.arrive(rt)); err != nil {
			return err
		}
	}
	return nil
}

// allArrives delivers everything in order.
func (w *turns) allArrives(ctx context.Context, _ *rapid.T) error {
	for len(w.news) > 0 {
		next := w.news[:1:1]
		w.news = w.news[1:]
		if err := w.deliver(ctx, next); err != nil {
			return err
		}
	}
	for len(w.lanes) > 0 {
		lane := w.lanes[0]
		if w.lanes = w.lanes[1:]; len(lane) > 1 {
			w.lanes = append([][][]byte{lane[1:]}, w.lanes...)
		}
		if err := w.take(ctx, lane[0]); err != nil {
			return err
		}
	}
	return nil
}

// itemWhole grows and completes an item; sometimes its run and the turn end too.
func (w *turns) itemWhole(ctx context.Context, rt *rapid.T) error {
	acts := []act{w.flush, w.complete, w.allArrives, w.next}
	if w.item == nil {
		acts = append([]act{w.page.begin}, acts...)
	}
	if w.active == nil {
		acts = append([]act{w.start}, acts...)
	}
	if many(rt) {
		acts = append(acts, w.end)
	}
	for _, does := range acts {
		if err := errors.Join(does(ctx, rt), w.collect(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// endBetweenTurns lets an item end between two turns, after a later event was forwarded,
// and ends the next turn after the first message, which is the item's end: the turn after
// that begins before the later event.
func (w *turns) endBetweenTurns(ctx context.Context, rt *rapid.T) error {
	acts := []act{w.append, w.allArrives, w.end, w.next, w.hearFirst, w.next, w.allArrives}
	if w.item == nil {
		acts = append([]act{w.page.begin}, acts...)
	}
	if w.active == nil {
		acts = append([]act{w.start}, acts...)
	}
	for _, does := range acts {
		if err := errors.Join(does(ctx, rt), w.collect(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// hearFirst delivers the first messages of the oldest lane: the answer to the
// subscription, and one more.
func (w *turns) hearFirst(ctx context.Context, _ *rapid.T) error {
	for n := 0; n < 2 && len(w.lanes) > 0; n++ {
		frame := w.lanes[0][0]
		if w.lanes[0] = w.lanes[0][1:]; len(w.lanes[0]) == 0 {
			w.lanes = w.lanes[1:]
		}
		if err := w.take(ctx, frame); err != nil {
			return err
		}
	}
	return nil
}

func (w *turns) rarelyRewind(ctx context.Context, rt *rapid.T) error {
	if !many(rt) {
		return nil
	}
	return w.rewind(ctx, rt)
}

// take handles a message like a stream.
func (w *turns) take(ctx context.Context, frame []byte) error {
	var m subscription.Message
	if err := json.Unmarshal(frame, &m); err != nil {
		return err
	}
	if m.Text = frame; m.Type == "subscribed" {
		return nil
	}
	w.note("received %s", frame)
	if order.TooLarge(m) {
		if !w.order.Lacks(m) {
			return nil
		}
		var err error
		if m, err = w.whole(ctx, m); err != nil {
			return w.reopen(ctx, nil)
		}
	}
	switch err := w.order.Take(m); {
	case errors.Is(err, order.ErrGap):
		return w.reopen(ctx, nil)
	case errors.Is(err, order.ErrReload):
		return w.reload(ctx)
	case err != nil:
		return err
	}
	return nil
}

var errGrows = errors.New("the item does not exist, or grows")

// whole is the message of an item that does not fit into one.
func (w *turns) whole(ctx context.Context, m subscription.Message) (subscription.Message, error) {
	page, err := w.functions.store.Sessions.Events(ctx, watched, w.id, session.EventQuery{
		View: session.Effective, After: m.Cursor.Seq - 1, Limit: 1,
	})
	if err != nil {
		return m, err
	}
	if len(page.Events) == 0 || page.Events[0].Seq != m.Cursor.Seq || page.Events[0].Status == session.EventInProgress {
		return m, errGrows
	}
	e := page.Events[0]
	out := subscription.Message{Type: string(watch.Snapshot), Cursor: m.Cursor, Prev: m.Prev, Subscription: m.Subscription}
	if out.Item.Status = string(e.Status); m.Prev.Seq == m.Cursor.Seq && m.Subscription == "" {
		out.Type = string(watch.ItemCompleted)
	}
	out.Text, err = json.Marshal(map[string]any{
		"type": out.Type, "session_id": w.id, "cursor": m.Cursor, "prev": m.Prev, "item": e, "item_id": e.ID,
	})
	return out, err
}

// reload reads the thread for the reader and starts again.
func (w *turns) reload(ctx context.Context) error {
	w.Reloads++
	pages, _, err := w.get(ctx, 1000)
	if err != nil {
		return err
	}
	w.order = nil
	if w.reader, err = readerOf(pages); err != nil {
		return err
	}
	return w.begin(ctx)
}

// forward hands an event to the reader.
func (w *turns) forward(_ string, text []byte) error {
	w.Forwarded++
	at, _ := w.order.Cursor()
	w.note("forwarded as %s: %s", at, text)
	repeated, err := w.reader.take(at.String(), text)
	if err != nil {
		return err
	}
	again, err := w.reader.aheadOf(at, text)
	switch {
	case err != nil || !repeated:
		return err
	case w.growing:
		w.Repeats++
		return nil
	case again:
		w.Repeats++
		w.Ahead++
		return nil
	}
	return fmt.Errorf("received twice: %.300s\n%s", text, strings.Join(w.trace, "\n")) //nolint:err113 // a test shows it
}

// settle delivers everything, and lets turns begin and end until no more messages
// arrive.
func (w *turns) settle(rt *rapid.T) {
	ctx := w.t.Context()
	w.must(rt, w.cancel(ctx, rt)) // behind a growing item everything may be repeated in each turn
	w.must(rt, w.collect(ctx))
	for len(w.news) > 0 {
		w.must(rt, w.tell(ctx, rt))
	}
	const most = 12
	for quiet, n := 0, 0; quiet < 2; n++ {
		before := w.Forwarded
		for len(w.lanes) > 0 {
			w.must(rt, w.hear(ctx, rt))
		}
		w.now = w.now.Add(pageclient.Hold)
		if _, waits := w.order.Due(pageclient.Hold); waits {
			w.must(rt, w.reopen(ctx, rt))
			continue
		}
		w.must(rt, w.begin(ctx))
		if quiet++; w.Forwarded != before {
			quiet = 0
		}
		if n == most {
			rt.Fatalf("there are messages in each turn\n%s", strings.Join(w.trace, "\n"))
		}
	}
	pages, _, err := w.get(ctx, 1000)
	w.must(rt, err)
	want, err := readerOf(pages)
	w.must(rt, err)
	if diff := want.differs(w.reader); diff != "" {
		rt.Fatalf("the reader differs from the thread (-thread +reader):\n%.4000s\n%s", diff, strings.Join(w.trace, "\n"))
	}
}
