package boot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/delivery"
	"github.com/rethread/rethread/shared/sqsqueue"
)

// round is a maker and a poster of messages that answer by the event's id, and
// the queue that they come from.
type round struct {
	tried []string
	hid   []string
	gave  []sqsqueue.Abandoned
	stuck error // of the queue of what was given up
}

func (r *round) Messages(_ context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	r.tried = append(r.tried, d.Event.ID)
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

func (r *round) Hide(_ context.Context, receipt string, wait time.Duration) error {
	r.hid = append(r.hid, fmt.Sprint(receipt, " ", wait))
	return nil
}

func (r *round) GiveUp(_ context.Context, a sqsqueue.Abandoned, _, _ string) error {
	r.gave = append(r.gave, a)
	return r.stuck
}

// mail is messages: "group event" each, in that order.
func mail(t *testing.T, of ...[2]string) events.SQSEvent {
	t.Helper()
	var event events.SQSEvent
	for i, m := range of {
		body, err := json.Marshal(delivery.Delivery{
			Event: delivery.Event{ID: m[1]}, Target: delivery.Target{Kind: "test", Name: m[0]},
		})
		if err != nil {
			t.Fatal(err)
		}
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: fmt.Sprint("m", i), ReceiptHandle: fmt.Sprint("r", i), Body: string(body),
			Attributes: map[string]string{"MessageGroupId": m[0], "ApproximateReceiveCount": "2", "SentTimestamp": "1000"},
		})
	}
	return event
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mail               [][2]string
		stuck              error
		tried, hid, failed []string
		gave               int
	}{
		"what is brought is done": {mail: [][2]string{{"a", "1"}, {"b", "2"}}, tried: []string{"1", "2"}},
		"what is not waits, and its group behind it": {
			mail:  [][2]string{{"a", "fails"}, {"a", "2"}, {"b", "3"}},
			tried: []string{"fails", "3"}, hid: []string{"r0 2s", "r1 2s"}, failed: []string{"m0", "m1"},
		},
		"what is given up is put aside": {mail: [][2]string{{"a", "refused"}, {"a", "2"}}, tried: []string{"refused", "2"}, gave: 1},
		"and comes again where that fails": {
			mail: [][2]string{{"a", "refused"}, {"a", "2"}}, stuck: errors.New("no queue"),
			tried: []string{"refused"}, failed: []string{"m0", "m1"}, gave: 1,
		},
		"a panic is one message's": {
			mail: [][2]string{{"a", "panic"}, {"b", "2"}}, tried: []string{"panic", "2"}, failed: []string{"m0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &round{stuck: test.stuck}
			log := slog.New(slog.DiscardHandler)
			c := &delivery.Courier{
				Makers: map[delivery.Kind]delivery.Maker{"test": r}, Poster: r,
				Pace: delivery.Pace{First: time.Second, Most: time.Minute, Within: time.Hour},
				Now:  func() time.Time { return time.Unix(2, 0) }, Jitter: func() float64 { return 1 }, Log: log,
			}
			answer, err := boot.Deliver(c, r, log)(t.Context(), mail(t, test.mail...))
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, f := range answer.BatchItemFailures {
				failed = append(failed, f.ItemIdentifier)
			}
			for _, diff := range []string{
				gocmp.Diff(test.tried, r.tried), gocmp.Diff(test.hid, r.hid), gocmp.Diff(test.failed, failed),
			} {
				if diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			if len(r.gave) != test.gave {
				t.Errorf("given up: %+v", r.gave)
			}
		})
	}
	t.Run("what cannot be read stays, until the queue puts it aside", func(t *testing.T) {
		t.Parallel()
		r, log := &round{}, slog.New(slog.DiscardHandler)
		event := mail(t, [2]string{"a", "1"}, [2]string{"b", "2"})
		event.Records[0].Body, event.Records[1].Attributes["SentTimestamp"] = "no JSON", "never"
		answer, err := boot.Deliver(&delivery.Courier{Log: log}, r, log)(t.Context(), event)
		if err != nil || len(answer.BatchItemFailures) != 2 || r.hid != nil {
			t.Errorf("%+v, %v, hidden %v", answer, err, r.hid)
		}
	})
}
