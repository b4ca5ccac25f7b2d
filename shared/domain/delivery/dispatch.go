package delivery

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/domain/notification"
)

// queuedAtOnce is how many groups are queued concurrently.
const queuedAtOnce = 16

// Dispatcher queues events for their targets.
type Dispatcher struct {
	Targets Targets
	Queue   Queue
}

// Find returns the deliveries of an event, one for each target. With an error it
// may return some of them, which can be delivered without waiting for the others.
func (d *Dispatcher) Find(ctx context.Context, e notification.Event) ([]Delivery, error) {
	targets, err := d.Targets.Targets(ctx, e)
	if err != nil {
		err = fmt.Errorf("find who wants to hear of %s: %w", e.ID, err)
	}
	all := make([]Delivery, len(targets))
	for i, t := range targets {
		all[i] = Delivery{Event: e, Target: t}
	}
	return all, err
}

// Put queues deliveries, those of each group in order and several groups
// concurrently, so that a group need not wait for all others. It returns
// ErrUnqueued at the index of each delivery that the queue refused; later ones of
// its group are not queued either. All may be put again, and must be put before
// later deliveries are.
func (d *Dispatcher) Put(ctx context.Context, all []Delivery) []error {
	indexes := map[string][]int{}
	for i := range all {
		group := all[i].Target.Group()
		indexes[group] = append(indexes[group], i)
	}
	errs := make([]error, len(all))
	var groups errgroup.Group
	groups.SetLimit(queuedAtOnce)
	for _, of := range indexes {
		groups.Go(func() error {
			var failed error
			for _, i := range of {
				if failed == nil {
					failed = d.put(ctx, all[i])
				}
				errs[i] = failed
			}
			return nil
		})
	}
	_ = groups.Wait() // they return none
	return errs
}

// put queues one delivery. A panic counts as a refusal.
func (d *Dispatcher) put(ctx context.Context, one Delivery) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.Join(ErrUnqueued, fmt.Errorf("panic: %v", v))
		}
	}()
	if err := d.Queue.Put(ctx, one); err != nil {
		return fmt.Errorf("%w: %w", ErrUnqueued, err)
	}
	return nil
}
