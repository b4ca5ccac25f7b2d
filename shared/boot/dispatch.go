package boot

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/push"
	"github.com/rethread/rethread/shared/domain/webhook"
	"github.com/rethread/rethread/shared/store/sessions"
)

// EventReader says what a change of the table means to those who asked to be
// told.
type EventReader func(context.Context, sessions.Change) ([]delivery.Event, error)

// StartDispatch runs the function that queues what is to be delivered until
// Lambda stops it.
func StartDispatch() {
	start(func(d Deps) (any, error) {
		queue, err := d.deliveries(webhook.Kind, push.Kind, automation.Kind)
		if err != nil {
			return nil, err
		}
		return Dispatch(d.Store.Notifications, &delivery.Dispatcher{Targets: d.Store, Queue: queue}, d.bus(), d.Log), nil
	})
}

// Dispatch queues what happened for those who want to hear of it, for each of
// them in the order of the changes. It stops at the first change that cannot be read
// now, and says which is the first that cannot be queued: Lambda goes on from there,
// and what was queued behind it for others is queued again, and kept once. One that
// cannot be read is skipped, as none of those behind it could pass it. What was queued
// is published too, unless bus is nil.
func Dispatch(read EventReader, to *delivery.Dispatcher, bus delivery.Bus, log *slog.Logger) FanoutHandler {
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		ctx, cancel := timeToAnswer(ctx)
		defer cancel()
		all := readChanges(ctx, read, to, event.Records, log)
		errs := make([]error, len(event.Records))
		queueChanges(ctx, to, all, errs)
		if bus != nil {
			var queued published
			for i := 0; i < len(all) && errs[i] == nil; i++ {
				queued.add(i, all[i].events)
			}
			queued.publish(ctx, bus, errs)
		}
		return failures(ctx, event.Records, errs, log), nil
	}
}

// queueChanges queues the deliveries of the changes before the first that is to be
// read again, and notes as the error of each what could not be queued.
func queueChanges(ctx context.Context, to *delivery.Dispatcher, all []reading, errs []error) {
	var deliveries []delivery.Delivery
	var changes []int // of the deliveries
	for i, one := range all {
		if one.err != nil {
			errs[i] = one.err
			break
		}
		for _, d := range one.deliveries {
			deliveries, changes = append(deliveries, d), append(changes, i)
		}
	}
	for i, err := range to.Put(ctx, deliveries) {
		if change := changes[i]; err != nil && errs[change] == nil {
			errs[change] = err
		}
	}
}
