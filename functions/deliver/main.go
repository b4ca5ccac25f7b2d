// Command deliver sends queued deliveries to their receivers until they are
// accepted.
package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/client/queue"
	"github.com/rethread/rethread/shared/client/tracing"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
)

const (
	// promptAnswer is how long a target may take to answer unless it is known to be
	// slow.
	promptAnswer = 3 * time.Second
	// behind is the age of a delivery from which its target counts as one that cannot
	// keep up.
	behind = 10 * time.Second
	// turnTime is how long a pass over a lane lasts, turnLease how long it may hold
	// the lane if the invocation has no deadline.
	turnTime  = 10 * time.Second
	turnLease = time.Minute
)

func main() { boot.Start(wire) }

// wire reads the environment: DELIVERY_BACKOFF is the wait after a first failure,
// A2A_ISSUER the address in signatures, below which their keys are.
func wire(d boot.Deps) (any, error) {
	issuer := os.Getenv("A2A_ISSUER")
	if issuer == "" {
		return nil, errors.New("the environment variable A2A_ISSUER must be set")
	}
	queues, err := queue.AllFromEnvironment(d.AWS)
	if err != nil {
		return nil, err
	}
	pace := delivery.DefaultRetryPolicy()
	if pace.First, err = boot.Duration("DELIVERY_BACKOFF", pace.First, time.Millisecond); err != nil {
		return nil, err
	}
	return batch.Deliver(&delivery.Scheduler{
		Worker: worker(d, issuer, pace), Lanes: d.Store.Lanes, Waker: queues, Discard: queues,
		DirectTimeout: promptAnswer, LaneTimeout: outbound.DefaultTimeout, MaxDirectAge: behind, PassTime: turnTime, Lease: turnLease,
		NewID: uuid.NewString, Log: d.Log,
	}, queues, d.Log), nil
}

// worker has the machine's time, as its queues have, and for what receivers compare with
// their own clocks.
func worker(d boot.Deps, issuer string, pace delivery.RetryPolicy) *delivery.Worker {
	store := d.Store.With(stores.WithCompaction(compaction.Rules{})) // compaction speeds up readers, and no reader waits here
	return &delivery.Worker{
		Builders: map[delivery.Kind]delivery.MessageBuilder{
			receiver.PushKind: &a2a.Notifier{
				Sessions: store.Sessions, Runs: store.Runs, Links: store.Tasks, Targets: store.Pushes,
				Sign: outbound.NewSigningKeys(store.Keys, time.Now).Sign, Issuer: issuer, Now: d.Now, SignedTime: time.Now, NewID: uuid.NewString,
			},
			receiver.WebhookKind: &outbound.WebhookNotifier{Webhooks: store.Webhooks, Now: time.Now},
		},
		Actors: map[delivery.Kind]delivery.Actor{automation.Kind: &automation.Actor{
			Store: store.Automations, Sessions: store.Sessions, Runs: store.Runs, HasAgent: d.HasAgent, MayCall: d.MayStillCall,
			Hand: invoke.Runner(d),
		}},
		Poster:  tracing.Poster{Poster: outbound.NewPoster(outbound.FromEnvironment().Client(), time.Now)},
		Retries: pace, Now: time.Now, Jitter: rand.Float64, Log: d.Log,
	}
}
