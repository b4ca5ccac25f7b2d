package watchtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// TestWatching lets a client follow sessions whose changes arrive like those of the
// table's stream: late, twice, and in any order that keeps each item's. After the
// last message the client shows what the thread shows.
func TestWatching(t *testing.T) {
	t.Parallel()
	steps, takeovers, queued := 0, 0, 0
	property.Check(t, func(rt *rapid.T) {
		engine, records := newTable()
		w := &watching{
			t: t, store: stores.New(engine, stores.WithCodec(storetest.Codec()), stores.WithCompaction(smallRanges())), records: records, id: uuid.NewString(),
			state: view.NewState(), now: time.UnixMilli(0), queues: map[table.Key][]watch.Message{},
		}
		w.must(rt, w.create(t.Context()))
		actions := map[string]func(context.Context, *rapid.T) error{
			"start": w.start, "begin": w.begin, "flush": w.flush, "flush again": w.flush, "complete": w.complete,
			"append": w.append, "end": w.end, "cancel": w.cancel, "rewind": w.rewind, "take over": w.takeOver,
			"enqueue": w.enqueue, "enqueue again": w.enqueue, "start what is queued": w.startQueued, "cancel what is queued": w.cancelQueued,
			"hear": w.hear, "hear more": w.hear, "hear twice": w.hearTwice, "connect": w.connect,
		}
		names := make([]string, 0, len(actions))
		for name := range actions {
			names = append(names, name)
		}
		slices.Sort(names)
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			name := rapid.SampledFrom(names).Draw(rt, "action")
			w.must(rt, actions[name](t.Context(), rt))
			w.must(rt, w.collect(t.Context()))
			steps++
		}
		w.settle(rt)
		takeovers += w.takeovers
		queued += w.queued
	})
	t.Logf("%d steps, %d takeovers, %d queued runs", steps, takeovers, queued)
	if (steps < leastSteps || takeovers < leastTakeovers || queued < leastQueued) && !t.Failed() {
		t.Errorf("want %d, %d and %d", leastSteps, leastTakeovers, leastQueued)
	}
}

// leastSteps, leastTakeovers and leastQueued are the minimum numbers in TestWatching.
const (
	leastSteps     = 1000
	leastTakeovers = 10
	leastQueued    = 20
)

type watching struct {
	t       *testing.T
	store   *stores.Store
	records *tableChanges
	id, log string
	state   *view.State
	now     time.Time

	queues    map[table.Key][]watch.Message // by item of the table
	order     []table.Key                   // of the queues, in the order in which they were first filled
	delivered []watch.Message

	active      *run.Ref
	item        run.Item
	takeovers   int
	queued      int // runs that began after they had been queued
	invocations []string
	n           int
}

const watched = "alice"

func (w *watching) must(rt *rapid.T, err error) {
	if err != nil && !errors.Is(err, fault.Of(fault.Conflict)) {
		rt.Fatal(err)
	}
}

func (w *watching) create(ctx context.Context) error {
	n := session.New{ID: w.id, UserID: watched, Nonce: w.id}
	if err := n.Validate(); err != nil {
		return err
	}
	_, err := w.store.Sessions.Create(ctx, n)
	if err == nil {
		w.log, err = w.store.Subscriptions.LogOf(ctx, watched, w.id)
	}
	return err
}

// collect reads this session's changes from the stream.
func (w *watching) collect(ctx context.Context) error {
	for _, c := range w.records.next() {
		news, err := w.store.WatchMessages(ctx, c.Change)
		if err != nil {
			return err
		}
		if news.Log != w.log || len(news.Messages) == 0 {
			continue
		}
		if len(w.queues[c.key]) == 0 {
			w.order = append(w.order, c.key)
		}
		w.queues[c.key] = append(w.queues[c.key], news.Messages...)
	}
	return nil
}

func (w *watching) event(text string) session.Event {
	w.n++
	content := fmt.Sprintf(`{"role":"user","parts":[{"text":%q}]}`, fmt.Sprint(text, w.n))
	return session.Event{Author: "user", InvocationID: "other", Fields: map[string]json.RawMessage{
		"content": json.RawMessage(content),
	}}
}

func (w *watching) start(ctx context.Context, rt *rapid.T) error {
	ref := run.Ref{UserID: watched, SessionID: w.id, RunID: fmt.Sprint("run", w.n)}
	_, err := w.store.Runs.Start(ctx, run.Start{
		Ref: ref, Mode: run.Managed, Input: []session.Event{w.event("ask")},
		OnActive: rapid.SampledFrom([]run.OnActive{run.Reject, run.CancelAndMerge}).Draw(rt, "on_active"),
	})
	if err == nil {
		w.active, w.item = &ref, nil
		w.invocations = append(w.invocations, ref.RunID)
	}
	return err
}

func (w *watching) begin(ctx context.Context, _ *rapid.T) error {
	if w.active == nil {
		return nil
	}
	e := w.event("")
	e.Author, e.Fields["content"] = "agent", json.RawMessage(`{"role":"model"}`)
	it, err := w.store.Runs.BeginItem(ctx, *w.active, e)
	if err == nil {
		w.item = it
	}
	return err
}

func (w *watching) flush(ctx context.Context, rt *rapid.T) error {
	if w.item == nil {
		return nil
	}
	n := rapid.IntRange(1, 3).Draw(rt, "deltas")
	parts := max(1, w.item.Content().Parts())
	var deltas []content.Delta
	for i := range n {
		// Pieces have many lengths, so that segments are filled unevenly.
		text := fmt.Sprintf("%*s", rapid.IntRange(1, 500).Draw(rt, "length"), "é"+fmt.Sprint(i))
		deltas = append(deltas, content.Delta{Part: min(i, parts), Text: text})
		parts = max(parts, min(i, parts)+1)
	}
	_, err := w.item.Flush(ctx, deltas)
	return err
}

func (w *watching) complete(ctx context.Context, _ *rapid.T) error {
	if w.item == nil {
		return nil
	}
	it := w.item
	w.item = nil
	e := w.event("whole ")
	e.Author = "agent"
	_, err := it.Complete(ctx, e)
	return err
}

func (w *watching) append(ctx context.Context, rt *rapid.T) error {
	events := []session.Event{w.event("by another ")}
	for range rapid.IntRange(0, 2).Draw(rt, "more") {
		events = append(events, w.event("and more "))
	}
	_, _, err := w.store.Sessions.Append(ctx, session.Append{SessionID: w.id, UserID: watched, Events: events})
	return err
}

func (w *watching) end(ctx context.Context, rt *rapid.T) error {
	if w.active == nil {
		return nil
	}
	status, problem := run.Completed, (*run.Problem)(nil)
	if rapid.Bool().Draw(rt, "failed") {
		status, problem = run.Failed, run.NewProblem("boom", "it broke")
	}
	ref := *w.active
	w.active, w.item = nil, nil
	_, err := w.store.Runs.End(ctx, ref, status, problem)
	return err
}

func (w *watching) cancel(ctx context.Context, rt *rapid.T) error {
	if w.active == nil {
		return nil
	}
	ref := *w.active
	w.active, w.item = nil, nil
	_, err := w.store.Runs.CancelAs(ctx, ref, rapid.SampledFrom([]run.OnFailed{"", run.Keep}).Draw(rt, "on_failed"))
	return err
}

func (w *watching) rewind(ctx context.Context, rt *rapid.T) error {
	if len(w.invocations) == 0 {
		return nil
	}
	r := session.Rewind{
		UserID: watched, SessionID: w.id, Before: rapid.SampledFrom(w.invocations).Draw(rt, "before"),
		CancelRun: true, Nonce: fmt.Sprint("mark", w.n),
	}
	w.n++
	_, err := w.store.History.Rewind(ctx, r)
	if err == nil {
		w.active, w.item = nil, nil
		w.invocations = append(w.invocations, r.Nonce)
	}
	return err
}

// hear delivers the next message of some item.
func (w *watching) hear(_ context.Context, rt *rapid.T) error {
	for range rapid.IntRange(1, 5).Draw(rt, "messages") {
		if len(w.order) == 0 {
			return nil
		}
		i := rapid.IntRange(0, len(w.order)-1).Draw(rt, "item")
		key := w.order[i]
		m := w.queues[key][0]
		if w.queues[key] = w.queues[key][1:]; len(w.queues[key]) == 0 {
			w.order = slices.Delete(w.order, i, i+1)
		}
		w.tell(m)
		w.delivered = append(w.delivered, m)
	}
	return nil
}

func (w *watching) hearTwice(_ context.Context, rt *rapid.T) error {
	if len(w.delivered) > 0 {
		w.tell(rapid.SampledFrom(w.delivered).Draw(rt, "again"))
	}
	return nil
}

func (w *watching) tell(m watch.Message) {
	frame, err := watch.Frame(m, w.id)
	if err != nil {
		w.t.Fatal(err)
	}
	message, err := view.ParseMessage(frame)
	if err != nil {
		w.t.Fatal(err)
	}
	w.state.Apply(message, w.now)
}

// connect acts like a client that reconnects or catches up.
func (w *watching) connect(ctx context.Context, _ *rapid.T) error {
	if w.state.NeedsThread() {
		if err := w.read(ctx); err != nil {
			return err
		}
	}
	at := watch.Cursor(w.state.Cursor())
	messages, err := w.store.Watching.CatchUp(ctx, watched, w.id, watch.From{Cursor: &at})
	if err != nil {
		return err
	}
	w.state.Repairing(w.now)
	for _, m := range messages {
		w.tell(m)
	}
	return nil
}

func (w *watching) read(ctx context.Context) error {
	th, err := w.store.Runs.Thread(ctx, watched, w.id, run.ThreadQuery{Limit: session.MaxPage})
	if err != nil {
		return err
	}
	data := map[string]any{
		"items": th.Items, "status": th.Session.Status, "run": th.Run,
		"cursor": watch.Cursor{Epoch: th.Session.Epoch, Seq: th.Seq, Offset: th.Offset},
	}
	if th.Queue.Version > 0 {
		data["queued"], data["queue_version"] = th.Queue.Shown(), th.Queue.Version
	}
	body, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	next, _, err := view.ParseThread(body)
	if err != nil {
		return err
	}
	w.state.Replace(next, w.now)
	return nil
}

// settle delivers everything and lets the client catch up until it misses nothing.
func (w *watching) settle(rt *rapid.T) {
	ctx := w.t.Context()
	w.must(rt, w.collect(ctx))
	if w.state.NeedsThread() {
		w.must(rt, w.connect(ctx, rt))
	}
	for len(w.order) > 0 {
		w.must(rt, w.hear(ctx, rt))
	}
	for tries := 0; ; tries++ {
		at, waiting := w.state.RepairAt()
		if !waiting && !w.state.NeedsThread() {
			break
		}
		if tries == 10 {
			rt.Fatal("the client does not become idle")
		}
		if waiting {
			w.now = at
		}
		w.must(rt, w.connect(ctx, rt))
	}
	th, err := w.store.Runs.Thread(ctx, watched, w.id, run.ThreadQuery{Limit: session.MaxPage})
	w.must(rt, err)
	want := shownThread{
		Status: th.Session.Status, Epoch: th.Session.Epoch, Items: jsonOf(rt, th.Items),
		Queued: jsonOf(rt, th.Queue.Shown()), QueueVersion: th.Queue.Version,
	}
	shown := w.state.Show()
	got := shownThread{
		Status: session.Status(shown.Status), Epoch: shown.Epoch, Items: jsonOf(rt, shown.Items),
		Queued: jsonOf(rt, shown.Queued), QueueVersion: shown.QueueVersion,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		rt.Fatalf("the client differs from the thread (-thread +client):\n%s", diff)
	}
}

type shownThread struct {
	Status session.Status
	Epoch  int64
	Items  []string

	Queued       []string
	QueueVersion int64
}

func jsonOf[T any](rt *rapid.T, events []T) []string {
	out := []string{}
	for _, e := range events {
		raw, err := json.Marshal(e)
		if err != nil {
			rt.Fatal(err)
		}
		out = append(out, string(raw))
	}
	return out
}

// smallRanges compacts short histories too.
func smallRanges() compaction.Rules { return compaction.Rules{Bytes: 500, Page: 1, Behind: 2} }
