package entrances_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/table"
)

// slowWorker is a function that no caller waits for.
type slowWorker struct {
	time time.Duration // how long the function may take, as template.yaml says
	// prepare returns what an invocation does, and what must be true once the table has
	// recovered and invocations that failed were repeated.
	prepare func(t *testing.T, s *system, engine table.Engine) (work func(context.Context) error, done func() error)
}

var errAgain = errors.New("a part of the batch is to be processed again")

// many is how many sessions there are for a batch.
const many = 20

func slowWorkers() map[string]slowWorker {
	return map[string]slowWorker{
		"fan-out":                        {300 * time.Second, fansOut},
		"dispatch":                       {60 * time.Second, dispatches},
		"sweeper":                        {50 * time.Second, sweeps},
		"runner, of an agent that ends":  {900 * time.Second, runs(func(context.Context) error { return nil })},
		"runner, of an agent that waits": {120 * time.Second, runs(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })},
	}
}

func sessionOf(n int) string { return fmt.Sprintf("s-%d", n) }

// saying are sessions with an event each.
func saying(t *testing.T, s *system) {
	t.Helper()
	for n := range many {
		s.must(t, http.StatusCreated, post("/api/v1/sessions", fmt.Sprintf(`{"id":%q}`, sessionOf(n))))
		s.must(t, http.StatusCreated, post("/api/v1/sessions/"+sessionOf(n)+"/events", changing(n)))
	}
}

// stream is the insertions of the items that a function's filter selects, as its batch.
func stream(t *testing.T, engine table.Engine, prefix string) events.DynamoDBEvent {
	t.Helper()
	var out events.DynamoDBEvent
	for _, item := range storetest.Items(t, engine) {
		if !strings.HasPrefix(table.Text(item, table.SK), prefix) {
			continue
		}
		out.Records = append(out.Records, events.DynamoDBEventRecord{EventName: "INSERT", Change: events.DynamoDBStreamRecord{
			SequenceNumber: fmt.Sprint(100 + len(out.Records)), NewImage: imageOf(item),
		}})
	}
	return out
}

func imageOf(item table.Item) map[string]events.DynamoDBAttributeValue {
	out := map[string]events.DynamoDBAttributeValue{}
	for name, value := range item {
		out[name] = attributeOf(value)
	}
	return out
}

func attributeOf(value types.AttributeValue) events.DynamoDBAttributeValue {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return events.NewStringAttribute(value.Value)
	case *types.AttributeValueMemberN:
		return events.NewNumberAttribute(value.Value)
	case *types.AttributeValueMemberB:
		return events.NewBinaryAttribute(value.Value)
	case *types.AttributeValueMemberBOOL:
		return events.NewBooleanAttribute(value.Value)
	case *types.AttributeValueMemberM:
		return events.NewMapAttribute(imageOf(value.Value))
	case *types.AttributeValueMemberL:
		all := make([]events.DynamoDBAttributeValue, len(value.Value))
		for i, one := range value.Value {
			all[i] = attributeOf(one)
		}
		return events.NewListAttribute(all)
	}
	panic(fmt.Sprintf("an attribute of the type %T", value))
}

// inParts processes a batch as Lambda does: from the first record that failed on, again.
func inParts(batch events.DynamoDBEvent, handle batch.ChangesHandler) func(context.Context) error {
	return func(ctx context.Context) error {
		response, err := handle(ctx, batch)
		if err != nil || len(response.BatchItemFailures) == 0 {
			return err
		}
		from := slices.IndexFunc(batch.Records, func(r events.DynamoDBEventRecord) bool {
			return slices.ContainsFunc(response.BatchItemFailures, func(f events.DynamoDBBatchItemFailure) bool {
				return f.ItemIdentifier == r.Change.SequenceNumber
			})
		})
		batch.Records = batch.Records[from:]
		return errAgain
	}
}

// reached notes what got somewhere.
type reached struct {
	mu  sync.Mutex
	all map[string]bool
}

func (r *reached) note(what string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]bool{}
	}
	r.all[what] = true
	return nil
}

func (r *reached) Push(_ context.Context, connection string, _ []byte) error {
	return r.note(connection)
}
func (*reached) Close(context.Context, string) error                { return nil }
func (r *reached) Put(_ context.Context, d delivery.Delivery) error { return r.note(d.Event.SessionID) }

// want checks that all sessions were reached.
func (r *reached) want() error {
	if len(r.all) < many {
		return fmt.Errorf("%d of %d were reached", len(r.all), many)
	}
	return nil
}

func fansOut(t *testing.T, s *system, engine table.Engine) (func(context.Context) error, func() error) {
	t.Helper()
	saying(t, s)
	for n := range many {
		fixture.Subscribe(t, s.store, fixture.Subscription(sessionOf(n), fmt.Sprint("c-", n), alice, ""))
	}
	to := &reached{}
	handle := batch.Fanout(s.store.WatchMessages, watch.NewFanout(s.store.Subscriptions, to, discarded(), s.clock.now), discarded())
	return inParts(stream(t, engine, "E#"), handle), to.want
}

func dispatches(t *testing.T, s *system, engine table.Engine) (func(context.Context) error, func() error) {
	t.Helper()
	hook := fixture.Webhook(alice, "hook", 1)
	hook.Types, hook.Agents, hook.SessionIDs = []string{string(notification.RunStarted)}, nil, nil
	fixture.CreateWebhook(t, s.store, hook)
	for n := range many {
		s.must(t, http.StatusCreated, post("/api/v1/sessions", fmt.Sprintf(`{"id":%q}`, sessionOf(n))))
		s.must(t, http.StatusAccepted, post("/api/v1/sessions/"+sessionOf(n)+"/runs",
			`{"mode":"external","input":[{"author":"user","content":{"role":"user","parts":[{"text":"x"}]}}]}`))
	}
	to := &reached{}
	handle := batch.Dispatch(s.store.Watching.Notifications, &delivery.Dispatcher{Targets: s.store, Queue: to}, nil, discarded())
	return inParts(stream(t, engine, "E#"), handle), to.want
}

// sweeps has sessions that were deleted an hour ago, and runs that are lost.
func sweeps(t *testing.T, s *system, engine table.Engine) (func(context.Context) error, func() error) {
	t.Helper()
	saying(t, s)
	for n := range many {
		if n%2 == 0 {
			s.must(t, http.StatusNoContent, del("/api/v1/sessions/"+sessionOf(n)))
			continue
		}
		s.must(t, http.StatusAccepted, post("/api/v1/sessions/"+sessionOf(n)+"/runs",
			`{"mode":"external","input":[{"author":"user","content":{"role":"user","parts":[{"text":"x"}]}}]}`))
	}
	s.clock.mu.Lock()
	s.clock.at = s.clock.at.Add(time.Hour)
	s.clock.mu.Unlock()
	work := boot.Sweeper([]boot.Chore{
		{Name: "runs", Do: func(ctx context.Context) (int, error) { return s.store.Runs.Expire(ctx, nil) }},
		{Name: "sessions", Do: s.store.Lifecycle.SweepRetention},
		{Name: "imports", Do: s.store.Archives.SweepImports},
		{Name: "erasures", Do: s.store.Lifecycle.SweepErasures},
		{Name: "logs", Do: s.store.Lifecycle.Sweep},
	}, discarded())
	return work, func() error {
		for _, item := range storetest.Items(t, engine) {
			if sk := table.Text(item, table.SK); sk == "RUN" || sk == "E#~" {
				return fmt.Errorf("%s %s is left", table.Text(item, table.PK), sk)
			}
		}
		return nil
	}
}

// streaming is an agent that says something and then does something else.
type streaming struct{ then func(context.Context) error }

func (a streaming) Agent(string) (run.Agent, bool) { return a, true }

func (a streaming) Run(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
	if err := emit(run.Output{Item: &run.ItemStart{Author: "helper", Role: "model"}}); err != nil {
		return err
	}
	for range many {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if err := emit(run.Output{Delta: &content.Delta{Text: "word "}}); err != nil {
			return err
		}
	}
	return a.then(ctx)
}

func runs(then func(context.Context) error) func(*testing.T, *system, table.Engine) (func(context.Context) error, func() error) {
	return func(t *testing.T, s *system, _ table.Engine) (func(context.Context) error, func() error) {
		t.Helper()
		saying(t, s)
		ref := run.Ref{UserID: alice, SessionID: sessionOf(0), RunID: "r"}
		question := session.Event{Author: "user", Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"parts":[{"text":"x"}]}`)}}
		start := run.Start{Ref: ref, Agent: "helper", Mode: run.Managed, OnActive: run.Reject, Input: []session.Event{question}}
		if _, err := s.store.Runs.Start(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		worker := &run.Worker{Store: s.store.Runs, Sessions: s.store.Runs, Agents: streaming{then}, NewID: uuid.NewString, Log: discarded()}
		work := func(ctx context.Context) error { return boot.Runner(worker)(ctx, ref) }
		return work, func() error {
			s.clock.mu.Lock()
			s.clock.at = s.clock.at.Add(time.Hour) // the lease of a worker that was lost
			s.clock.mu.Unlock()
			if r, err := s.store.Runs.Run(t.Context(), ref); err != nil || !r.Status.Final() {
				return fmt.Errorf("the run is %s, %w", r.Status, err)
			}
			return nil
		}
	}
}

func discarded() *slog.Logger { return slog.New(slog.DiscardHandler) }

// While a third of the table's answers fail, each worker returns before its function's end.
// Once the table has recovered, and what failed was repeated as Lambda and the schedule do,
// nothing is missing.
func TestWorkers_end_before_their_function(t *testing.T) {
	t.Parallel()
	cases, failed := 0, 0
	for name, w := range slowWorkers() {
		for seed := range uint64(24) {
			cases++
			synctest.Test(t, func(t *testing.T) {
				of := &failing{random: rand.New(rand.NewPCG(seed, 2))} //nolint:gosec // repeats
				engine := storetest.Engine(t)
				s := newSystemOver(t, storetest.Before(engine, of.answer), discarded())
				work, done := w.prepare(t, s, engine)
				of.on = true
				for range 3 {
					ctx, cancel := context.WithTimeout(t.Context(), w.time)
					began := time.Now()
					err := work(ctx)
					if took := time.Since(began); took >= w.time {
						t.Errorf("%s, seed %d: returned after %s, %v", name, seed, took, err)
					}
					cancel()
					if err != nil {
						failed++
						continue
					}
					break
				}
				of.on = false
				for tries := 0; tries < 3 && work(t.Context()) != nil; tries++ {
				}
				if err := done(); err != nil {
					t.Errorf("%s, seed %d: after it: %v", name, seed, err)
				}
			})
		}
	}
	if cases < 120 || failed < 8 {
		t.Errorf("%d cases, want 120, and %d invocations failed, want at least 8", cases, failed)
	}
}
