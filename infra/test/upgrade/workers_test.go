package upgrade_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/a2a"
)

// worker executes runs with an agent that answers with one word.
func (s *system) worker() *run.Worker {
	return &run.Worker{
		Store: s.store.Runs, Sessions: s.store.Runs, Requests: s.store.Runs, Agents: s.agent, NewID: s.newID, Log: s.log,
	}
}

// work executes the pending runs.
func (s *system) work(t testing.TB) {
	t.Helper()
	for _, ref := range s.runs {
		if err := boot.Runner(s.worker())(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	s.runs = nil
}

// next starts a run whose input waited in a session's queue.
func (s *system) next(ctx context.Context, user, session string) (bool, error) {
	return run.Next{Store: s.store.Runs, Hand: s.start}.Start(ctx, user, session)
}

type agent struct{}

func (a agent) Agent(string) (run.Agent, bool) { return a, true }

// Run implements run.Agent.
func (agent) Run(_ context.Context, req run.Request, emit func(run.Output) error) error {
	whole, err := session.ParseEvent(json.RawMessage(fmt.Sprintf(
		`{"invocation_id":%q,"author":"helper","content":{"role":"model","parts":[{"text":"It is done."}]},"actions":{"state_delta":{"upgraded":true}}}`,
		req.RunID)), "")
	if err != nil {
		return err
	}
	return errors.Join(
		emit(run.Output{Item: &run.ItemStart{Author: "helper", Role: "model"}}),
		emit(run.Output{Delta: &content.Delta{Text: "After the upgrade."}}),
		emit(run.Output{Event: &whole}),
	)
}

// deliverer is the function that sends deliveries; all receivers accept them.
func (s *system) deliverer() batch.DeliverHandler {
	desk := &delivery.Scheduler{
		Worker: &delivery.Worker{
			Builders: map[delivery.Kind]delivery.MessageBuilder{
				receiver.PushKind: &a2a.Notifier{
					Sessions: s.store.Sessions, Runs: s.store.Runs, Links: s.store.Tasks, Targets: s.store.Pushes,
					Sign: s.keys.Sign, Issuer: "https://issuer.example", Now: s.now, SignedTime: s.now, NewID: s.newID,
				},
				receiver.WebhookKind: &outbound.WebhookNotifier{Webhooks: s.store.Webhooks, Now: s.now},
			},
			Actors: map[delivery.Kind]delivery.Actor{automation.Kind: &automation.Actor{
				Store: s.store.Automations, Sessions: s.store.Sessions, Runs: s.store.Runs, HasAgent: s.HasAgent, MayCall: func(string, []string) bool { return true }, Hand: s.start,
			}},
			Poster: s, Retries: delivery.DefaultRetryPolicy(), Now: s.now, Jitter: func() float64 { return 0 }, Log: s.log,
		},
		Lanes: s.store.Lanes, Waker: s, Discard: s, DirectTimeout: 3 * time.Second, LaneTimeout: 10 * time.Second, MaxDirectAge: time.Hour,
		PassTime: time.Minute, Lease: time.Minute, NewID: s.newID, Log: s.log,
	}
	return batch.Deliver(desk, s, s.log)
}

// Post implements delivery.Poster.
func (s *system) Post(_ context.Context, m delivery.Message) (delivery.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down && (strings.Contains(m.URL, "down") || strings.Contains(m.URL, "push")) {
		return delivery.Answer{Status: http.StatusServiceUnavailable}, nil
	}
	s.posted = append(s.posted, m.URL)
	return delivery.Answer{Status: http.StatusNoContent}, nil
}

// Wake implements delivery.Waker.
func (s *system) Wake(_ context.Context, w delivery.Wake, _ time.Duration) error {
	body, err := json.Marshal(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakes = append(s.wakes, body)
	return err
}

// Discard implements delivery.Discarder. No delivery may be abandoned.
func (s *system) Discard(_ context.Context, d delivery.Delivery, reason string, _ int) error {
	return fmt.Errorf("%s was abandoned: %s", d.Event.ID, reason)
}

// Hide and GiveUp are what the function does with messages that it cannot process.
func (s *system) Hide(context.Context, string, string, time.Duration) error { return nil }

func (s *system) GiveUp(_ context.Context, a delivery.GivenUp, _, _ string) error {
	return errors.New(a.Reason)
}

// mail is messages of the queue of deliveries or, without a group, of that of
// wakes.
func (s *system) mail(t testing.TB, bodies []json.RawMessage, grouped bool) events.SQSEvent {
	t.Helper()
	var event events.SQSEvent
	for i, body := range bodies {
		m := events.SQSMessage{MessageId: fmt.Sprint("m", i), Body: string(body), Attributes: map[string]string{
			"ApproximateReceiveCount": "1", "SentTimestamp": fmt.Sprint(s.now().UnixMilli()), "SequenceNumber": s.sequence(),
		}}
		if grouped {
			var d delivery.Delivery
			if err := json.Unmarshal(body, &d); err != nil {
				t.Fatal(err)
			}
			m.Attributes["MessageGroupId"] = d.Target.Group()
		}
		event.Records = append(event.Records, m)
	}
	return event
}

// sequence is a number above all before, as a queue gives its messages: one that arrives
// with the number of another takes its place in a lane.
func (s *system) sequence() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued = max(s.queued+1, s.time.UnixMilli())
	return fmt.Sprint(s.queued)
}

// deliver passes messages to the function that sends deliveries.
func (s *system) deliver(t testing.TB, event events.SQSEvent) {
	t.Helper()
	answer, err := s.deliverer()(t.Context(), event)
	if err != nil || len(answer.BatchItemFailures) > 0 {
		t.Errorf("%v, of %d messages failed %v: %.2000s", err, len(event.Records), answer.BatchItemFailures, s.said.String())
	}
}

// parked is the number of deliveries that wait in lanes.
func (s *system) parked(t testing.TB) (n int) {
	t.Helper()
	for _, k := range s.stored(t) {
		if strings.HasPrefix(k.PK, "DL#") && strings.HasPrefix(k.SK, "P#") {
			n++
		}
	}
	return n
}
