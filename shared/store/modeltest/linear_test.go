package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

const (
	clients   = 5
	callsEach = 6
)

// TestOneSessionIsLinearizable lets several clients append to, rewind, fork
// and read one session at once: there must be an order of the operations, each
// within its time, in which every answer is what the model says.
func TestOneSessionIsLinearizable(t *testing.T) {
	t.Parallel()
	yielding := func(context.Context, hooks.Call) error {
		for range rand.IntN(clients) { //nolint:gosec // lets others run, as network delays would
			runtime.Gosched()
		}
		return nil
	}
	store := open(hooks.New(storetest.Engine(t), hooks.Hooks{Before: yielding}))
	rounds := number{all: 100, few: 10}
	for round := range rounds.least() {
		l := &linear{store: store, id: fmt.Sprintf("s%d", round), start: time.Now()}
		if _, err := store.Sessions.Create(t.Context(), newSession(l.id)); err != nil {
			t.Fatal(err)
		}
		if err := l.race(t, round); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		result := porcupine.CheckOperationsTimeout(linearModel(), l.done, 5*time.Minute)
		if result != porcupine.Ok {
			t.Fatalf("round %d: the history is %s:\n%s", round, result, l)
		}
	}
	rounds.tell(t, rounds.least(), "rounds")
}

func newSession(id string) session.New {
	return session.New{ID: id, UserID: "alice", AppName: "app", Nonce: "n " + id, Metadata: json.RawMessage("{}")}
}

// linear is one round.
type linear struct {
	store *stores.Store
	id    string
	start time.Time

	mu   sync.Mutex
	done []porcupine.Operation
}

func (l *linear) race(t *testing.T, round int) error {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for client := range clients {
		random := property.Rand(t, round*clients+client)
		wg.Go(func() {
			for n := range callsEach {
				if errs[client] = l.one(t.Context(), client, n, random); errs[client] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// one carries out one operation and records its times and its answer.
func (l *linear) one(ctx context.Context, client, n int, random *rand.Rand) error {
	ops := []string{"append", "append", "append", "rewind", "rewind", "fork", "effective", "all", "state", "session"}
	c := call{op: ops[random.IntN(len(ops))], text: fmt.Sprintf("%d.%d", client, n)}
	switch c.op {
	case "append":
		c.invocation = []string{"a", "b", "c"}[random.IntN(3)]
	case "rewind", "fork":
		// Markers of earlier rewinds are identified by the name of their call.
		c.invocation = []string{"a", "a", "b", "b", "c", "c", fmt.Sprintf("%d.%d", random.IntN(clients), 0)}[random.IntN(7)]
	}
	if c.op == "fork" && random.IntN(4) == 0 {
		c.invocation = ""
	}
	called := time.Since(l.start).Nanoseconds()
	got, later, err := l.do(ctx, c)
	returned := time.Since(l.start).Nanoseconds()
	if err == nil && later != nil {
		err = later(&got)
	}
	if c.op == "append" && errors.Is(err, fault.Of(fault.Busy)) {
		return nil // refused on a slow machine: then no later answer may have it
	}
	if err != nil {
		return fmt.Errorf("%+v: %w", c, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = append(l.done, porcupine.Operation{
		ClientId: client, Input: c, Output: got, Call: called, Return: returned,
	})
	return nil
}

// do returns the answer to an operation; later completes it with what may be read
// after the operation has returned.
func (l *linear) do(ctx context.Context, c call) (a answer, later func(*answer) error, err error) {
	switch c.op {
	case "append":
		var stored []session.Event
		stored, _, err = l.store.Sessions.Append(ctx, session.Append{
			SessionID: l.id, UserID: "alice", Events: []session.Event{plainEvent(c)},
		})
		if err == nil {
			a.seq = stored[0].Seq
		}
	case "rewind":
		var got session.Rewound
		got, err = l.store.History.Rewind(ctx, session.Rewind{
			SessionID: l.id, UserID: "alice", Before: c.invocation, Nonce: c.text,
		})
		if errors.Is(err, fault.Of(fault.NotFound)) {
			return answer{missing: true}, nil, nil
		}
		a.seq, a.epoch = got.Event.Seq, got.Session.Epoch
	case "fork":
		return l.fork(ctx, c)
	case "effective", "all":
		a.texts, err = l.texts(ctx, l.id, session.View(c.op))
	case "state":
		a.value, err = l.value(ctx, l.id)
	case "session":
		var s session.Session
		s, err = l.store.Sessions.Get(ctx, "alice", l.id)
		a.seq, a.epoch = s.HeadSeq, s.Epoch
	}
	return a, nil, err
}

// fork forks; what the fork shows cannot change any more and is read later.
func (l *linear) fork(ctx context.Context, c call) (answer, func(*answer) error, error) {
	f := session.ForkOf{SessionID: l.id, UserID: "alice", ID: l.id + " " + c.text, Nonce: c.text}
	if c.invocation != "" {
		f.Before = &c.invocation
	}
	made, err := l.store.History.Fork(ctx, f)
	if err != nil {
		return answer{}, nil, err
	}
	return answer{missing: !made.Fork.BoundaryFound}, func(a *answer) (err error) {
		if a.texts, err = l.texts(ctx, f.ID, session.Effective); err == nil {
			a.value, err = l.value(ctx, f.ID)
		}
		return err
	}, nil
}

func (l *linear) texts(ctx context.Context, id string, view session.View) ([]string, error) {
	page, err := l.store.Sessions.Events(ctx, "alice", id, session.EventQuery{View: view, Limit: session.MaxPage})
	out := []string{}
	for _, e := range page.Events {
		var text string
		if raw, ok := e.Fields["text"]; ok && json.Unmarshal(raw, &text) != nil {
			return nil, fmt.Errorf("event %d: text %s", e.Seq, raw)
		}
		out = append(out, fmt.Sprintf("%d:%s", e.Seq, text))
	}
	return out, err
}

func (l *linear) value(ctx context.Context, id string) (string, error) {
	state, err := l.store.Sessions.State(ctx, "alice", id)
	var value string
	if raw, ok := state.Session["k"]; ok && err == nil {
		err = json.Unmarshal(raw, &value)
	}
	return value, err
}

func plainEvent(c call) session.Event {
	delta := session.Delta{"k": mustJSON(c.text)}
	return session.Event{
		InvocationID: c.invocation, Author: "agent", StateDelta: delta,
		Fields: fields(map[string]any{"text": c.text, "actions": map[string]any{"state_delta": delta}}),
	}
}

// String lists the operations in the order of their calls.
func (l *linear) String() string {
	slices.SortFunc(l.done, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var out strings.Builder
	for _, op := range l.done {
		fmt.Fprintf(&out, "%9d to %9d us, client %d: %+v -> %+v\n",
			op.Call/1000, op.Return/1000, op.ClientId, op.Input, op.Output)
	}
	return out.String()
}
