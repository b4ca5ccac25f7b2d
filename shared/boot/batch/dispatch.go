package batch

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/store/records"
)

// EventReader returns the events of a change of the table.
type EventReader func(context.Context, records.Change) ([]notification.Event, error)

// Dispatch queues the events of changes for their targets, in the order of the changes
// for each target. It stops at the first change that cannot be read at the moment, and
// reports the first that could not be queued: Lambda continues from there, and
// deliveries queued after it are queued again, but kept once. A change that can never
// be read is skipped, so that it does not block those after it. Queued events are also
// published, unless bus is nil.
func Dispatch(read EventReader, to *delivery.Dispatcher, bus notification.Bus, log *slog.Logger) ChangesHandler {
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		ctx, cancel := TimeToAnswer(ctx)
		defer cancel()
		all := readChanges(ctx, read, to, event.Records, log)
		errs := make([]error, len(event.Records))
		queueChanges(ctx, to, all, errs)
		if bus != nil {
			var queued published
			for i := 0; i < len(all) && errs[i] == nil; i++ {
				queued.add(i, all[i].events)
			}
			queued.publish(ctx, bus, event.Records, errs, log)
		}
		return failures(ctx, event.Records, errs, log), nil
	}
}

// queueChanges queues the deliveries of the changes before the first that must be read
// again, and stores each failure as the change's error.
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
