package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
)

// round is a message builder and a poster that answer by the event's id, and the
// queue of the messages.
type round struct {
	mu     sync.Mutex
	tried  []string
	hid    []string
	gave   []string // why
	parked []string // event, place and tries
	woken  []string // kind, turn and wait
	stuck  error    // of the queue of abandoned deliveries
	down   bool     // the table
}

func (r *round) Messages(_ context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	r.mu.Lock()
	r.tried = append(r.tried, d.Event.ID)
	r.mu.Unlock()
	if d.Event.ID == "panic" {
		panic("oops")
	}
	return []delivery.Message{{URL: d.Event.ID}}, nil
}

func (r *round) Drop(context.Context, delivery.Target, string) error { return nil }

func (r *round) Post(_ context.Context, m delivery.Message) (delivery.Answer, error) {
	switch m.URL {
	case "fails":
		return delivery.Answer{Status: 500}, nil
	case "refused":
		return delivery.Answer{}, delivery.ErrRefused
	}
	return delivery.Answer{Status: 200}, nil
}

func (r *round) Hide(_ context.Context, arn, receipt string, wait time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hid = append(r.hid, fmt.Sprint(arn, " ", receipt, " ", wait))
	return nil
}

func (r *round) GiveUp(_ context.Context, a delivery.GivenUp, _, _ string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gave = append(r.gave, a.Reason)
	return r.stuck
}

func (r *round) Discard(ctx context.Context, _ delivery.Delivery, reason string, _ int) error {
	return r.GiveUp(ctx, delivery.GivenUp{Reason: reason}, "", "")
}

func (r *round) Lane(_ context.Context, group string) (delivery.Lane, error) {
	if r.down {
		return delivery.Lane{}, errors.New("no table")
	}
	return delivery.Lane{Group: group}, nil
}

func (r *round) SaveLane(context.Context, delivery.Lane) error  { return nil }
func (r *round) CloseLane(context.Context, delivery.Lane) error { return nil }

func (r *round) Park(_ context.Context, _ delivery.Lane, all []delivery.Parked) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range all {
		r.parked = append(r.parked, fmt.Sprint(p.Delivery.Event.ID, " ", p.Position[len(p.Position)-2:], " ", p.Tries))
	}
	return nil
}

func (r *round) Parked(context.Context, string, int) ([]delivery.Parked, error) { return nil, nil }
func (r *round) Unpark(context.Context, string, ...string) error                { return nil }

func (r *round) Wake(_ context.Context, w delivery.Wake, after time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.woken = append(r.woken, fmt.Sprint(w.Kind, " ", w.Pass, " ", after))
	return nil
}

// mail is messages: "group event" each, in that order.
func mail(t *testing.T, of ...[2]string) events.SQSEvent {
	t.Helper()
	var event events.SQSEvent
	for i, m := range of {
		body, err := json.Marshal(delivery.Delivery{
			Event: notification.Event{ID: m[1]}, Target: delivery.Target{Kind: "test", Name: m[0]},
		})
		if err != nil {
			t.Fatal(err)
		}
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: fmt.Sprint("m", i), ReceiptHandle: fmt.Sprint("r", i), Body: string(body),
			Attributes:     map[string]string{"MessageGroupId": m[0], "ApproximateReceiveCount": "1", "SentTimestamp": "1000", "SequenceNumber": fmt.Sprint(7 + i)},
			EventSourceARN: "queue",
		})
	}
	return event
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mail                                       [][2]string
		broken                                     int // message that cannot be read, from 1
		stuck                                      error
		down                                       bool
		tried, parked, woken, gave, hidden, failed []string
	}{
		"completes delivered messages": {mail: [][2]string{{"a", "1"}, {"b", "2"}}, tried: []string{"1", "2"}},
		"delays a failed message and the rest of its group": {
			mail:  [][2]string{{"a", "fails"}, {"a", "2"}, {"b", "3"}, {"a", "4"}},
			tried: []string{"3", "fails"}, parked: []string{"2 08 0", "4 10 0", "fails 07 0"}, woken: []string{"test 1 1s"},
		},
		"moves an abandoned delivery to its queue": {
			mail: [][2]string{{"a", "refused"}, {"a", "2"}}, tried: []string{"2", "refused"}, gave: []string{delivery.ErrRefused.Error()},
		},
		"retries an abandoned delivery if moving it fails": {
			mail: [][2]string{{"a", "refused"}, {"a", "2"}}, stuck: errors.New("no queue"),
			tried: []string{"refused"}, gave: []string{delivery.ErrRefused.Error()},
			hidden: []string{"queue r0 2s", "queue r1 2s"}, failed: []string{"m0", "m1"},
		},
		"a panic delays only its group": {
			mail: [][2]string{{"a", "panic"}, {"b", "2"}}, tried: []string{"2", "panic"},
			parked: []string{"panic 07 0"}, woken: []string{"test 1 1s"},
		},
		"moves a malformed message away and continues its group": {
			mail: [][2]string{{"a", "1"}, {"a", "2"}, {"a", "3"}}, broken: 2, tried: []string{"1", "3"}, gave: []string{"it cannot be read"},
		},
		"retries everything without the table": {
			mail: [][2]string{{"a", "1"}}, down: true, hidden: []string{"queue r0 2s"}, failed: []string{"m0"},
		},
		"drops a malformed wake": {mail: [][2]string{{"", "1"}, {"a", "2"}}, tried: []string{"2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &round{stuck: test.stuck, down: test.down}
			log := slog.New(slog.DiscardHandler)
			desk := &delivery.Scheduler{
				Worker: &delivery.Worker{
					Builders: map[delivery.Kind]delivery.MessageBuilder{"test": r}, Poster: r,
					Retries: delivery.RetryPolicy{First: time.Second, Max: time.Minute, Within: time.Hour},
					Now:     func() time.Time { return time.Unix(2, 0) }, Jitter: func() float64 { return 1 }, Log: log,
				},
				Lanes: r, Waker: r, Discard: r, DirectTimeout: time.Second, MaxDirectAge: 10 * time.Second, NewID: func() string { return "id" }, Log: log,
			}
			event := mail(t, test.mail...)
			if test.broken > 0 {
				event.Records[test.broken-1].Body = "no JSON"
			}
			answer, err := batch.Deliver(desk, r, log)(t.Context(), event)
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, f := range answer.BatchItemFailures {
				failed = append(failed, f.ItemIdentifier)
			}
			for what, pair := range map[string][2][]string{
				"tried": {test.tried, r.tried}, "parked": {test.parked, r.parked}, "woken": {test.woken, r.woken},
				"abandoned": {test.gave, r.gave}, "hidden": {test.hidden, r.hid}, "failed": {test.failed, failed},
			} {
				slices.Sort(pair[1]) // groups run concurrently
				if diff := gocmp.Diff(pair[0], pair[1]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}
