package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// observer is a fakeReceiver that observes its attempts.
type observer struct {
	fakeReceiver
	heard []delivery.Outcome
	deaf  error
}

func (w *observer) OnAttempt(_ context.Context, _ delivery.Delivery, o delivery.Outcome) error {
	w.heard = append(w.heard, o)
	return w.deaf
}

// A builder that is an AttemptObserver sees the outcome of each attempt and cannot
// change it.
func TestAttemptObserver(t *testing.T) {
	t.Parallel()
	start := time.Unix(100_000, 0)
	one := []delivery.Message{{URL: "a"}}
	later := delivery.Result{State: delivery.Later, Wait: 2 * time.Second, Reason: "the target answers 500"}
	for name, test := range map[string]struct {
		observer observer
		want     delivery.Outcome
	}{
		"delivered": {
			observer: observer{fakeReceiver: fakeReceiver{messages: one, answers: map[string]delivery.Answer{"a": {Status: 204}}}},
			want:     delivery.Outcome{URL: "a", Status: 204},
		},
		"later": {
			observer: observer{fakeReceiver: fakeReceiver{messages: one, answers: map[string]delivery.Answer{"a": {Status: 500}}}},
			want:     delivery.Outcome{URL: "a", Status: 500, Result: later},
		},
		"a failing observer does not change the outcome": {
			observer: observer{
				fakeReceiver: fakeReceiver{messages: one, answers: map[string]delivery.Answer{"a": {Status: 500}}}, deaf: errors.New("no table"),
			},
			want: delivery.Outcome{URL: "a", Status: 500, Result: later},
		},
		"refused": {
			observer: observer{fakeReceiver: fakeReceiver{messages: one, errs: map[string]error{"a": delivery.ErrRefused}}},
			want: delivery.Outcome{
				URL: "a", Err: delivery.ErrRefused,
				Result: delivery.Result{State: delivery.Abandoned, Reason: delivery.ErrRefused.Error()},
			},
		},
		"gone": {
			observer: observer{fakeReceiver: fakeReceiver{messages: one, answers: map[string]delivery.Answer{"a": {Status: 410}}}},
			want:     delivery.Outcome{Result: delivery.Result{Nothing: true}, URL: "a", Status: 410},
		},
		"nothing": {
			observer: observer{fakeReceiver: fakeReceiver{fails: delivery.ErrNothing}},
			want:     delivery.Outcome{Result: delivery.Result{Nothing: true}, Err: delivery.ErrNothing},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, now := test.observer, start
			c := delivery.Worker{
				Builders: map[delivery.Kind]delivery.MessageBuilder{kind: &w}, Poster: &w,
				Retries: delivery.RetryPolicy{First: 2 * time.Second, Max: time.Hour, Within: 24 * time.Hour},
				Now: func() time.Time {
					now = now.Add(time.Second)
					return now
				},
				Jitter: func() float64 { return 1 }, Log: slog.New(slog.DiscardHandler),
			}
			try := delivery.Try{Number: 1, Queued: start}
			got := c.Deliver(t.Context(), delivery.Delivery{Target: delivery.Target{Kind: kind}}, try)
			if diff := cmp.Diff(test.want.Result, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want := test.want
			want.Try, want.Began = try, start.Add(time.Second)
			if len(w.heard) == 1 && w.heard[0].Took <= 0 {
				t.Error("it took no time")
			}
			if diff := cmp.Diff([]delivery.Outcome{want}, w.heard,
				cmpopts.EquateErrors(), cmpopts.IgnoreFields(delivery.Outcome{}, "Took")); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
		})
	}
}
