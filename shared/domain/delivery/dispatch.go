package delivery

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// queuedAtOnce is how many groups are queued for at once.
const queuedAtOnce = 16

// Dispatcher queues events for their targets.
type Dispatcher struct {
	Targets Targets
	Queue   Queue
}

// Find makes the deliveries of an event, one for each of its targets. With an error
// there may be some as well, who are not to wait for the others.
func (d *Dispatcher) Find(ctx context.Context, e Event) ([]Delivery, error) {
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

// Put queues deliveries, those of each group in order and of several groups at once:
// with one after the other, whoever comes last would wait for all before. It returns
// ErrUnqueued by the place of each that the queue did not take; none of its group is
// put behind it. All may be put again, and must be before later ones are.
func (d *Dispatcher) Put(ctx context.Context, all []Delivery) []error {
	places := map[string][]int{}
	for i := range all {
		group := all[i].Target.Group()
		places[group] = append(places[group], i)
	}
	errs := make([]error, len(all))
	var groups errgroup.Group
	groups.SetLimit(queuedAtOnce)
	for _, of := range places {
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

// put queues one. A panic is one more way not to be taken.
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
