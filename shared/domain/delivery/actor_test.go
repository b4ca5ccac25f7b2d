package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// fakeActor fails with the given error.
type fakeActor struct{ err error }

func (d fakeActor) Act(context.Context, delivery.Delivery) error { return d.err }

func TestDeliver_to_an_actor(t *testing.T) {
	t.Parallel()
	now := time.Unix(100_000, 0)
	for name, test := range map[string]struct {
		err  error
		age  time.Duration
		want delivery.Result
	}{
		"success completes the delivery":      {},
		"nothing to do is done":               {err: fmt.Errorf("%w: gone", delivery.ErrNothing), want: delivery.Result{Nothing: true}},
		"what is in the way passes":           {err: fmt.Errorf("%w: a run", delivery.ErrNotYet), want: delivery.Result{State: delivery.Later, Wait: 2 * time.Second, Reason: "something is in the way: a run"}},
		"an unexpected error is not shown":    {err: errors.New("secret"), want: delivery.Result{State: delivery.Later, Wait: 2 * time.Second, Reason: "it cannot be done now"}},
		"an impossible delivery is abandoned": {err: fmt.Errorf("%w: no agent", delivery.ErrNever), want: delivery.Result{State: delivery.Abandoned, Reason: "it cannot be done: no agent"}},
		"abandons a delivery after a day":     {err: delivery.ErrNotYet, age: 24 * time.Hour, want: delivery.Result{State: delivery.Abandoned, Reason: "something is in the way"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &delivery.Worker{
				Actors:  map[delivery.Kind]delivery.Actor{kind: fakeActor{test.err}},
				Retries: delivery.RetryPolicy{First: 2 * time.Second, Max: time.Hour, Within: 24 * time.Hour},
				Now:     func() time.Time { return now }, Jitter: func() float64 { return 1 }, Log: slog.New(slog.DiscardHandler),
			}
			got := c.Deliver(t.Context(), delivery.Delivery{Target: delivery.Target{Kind: kind}}, delivery.Try{
				Number: 1, Queued: now.Add(-test.age),
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
