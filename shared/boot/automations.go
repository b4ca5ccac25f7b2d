package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/automation"
	"github.com/rethread/rethread/shared/delivery"
	"github.com/rethread/rethread/shared/dynamostore"
	"github.com/rethread/rethread/shared/metrics"
	"github.com/rethread/rethread/shared/push"
	"github.com/rethread/rethread/shared/webhook"
)

// EventReader says what a change of the table means to those who asked to be
// told.
type EventReader func(context.Context, dynamostore.Change) ([]delivery.Event, error)

// StartAutomations runs the function that queues what is to be delivered until
// Lambda stops it.
func StartAutomations() {
	start(func(d Deps) (any, error) {
		queue, err := d.deliveries(webhook.Kind, push.Kind, automation.Kind)
		if err != nil {
			return nil, err
		}
		return Automations(d.Store.Happened, &delivery.Dispatcher{Targets: d.Store, Queue: queue}, d.bus(), d.Log), nil
	})
}

// Automations queues what happened for those who want to hear of it, in the
// order of the changes. It stops at the first change that cannot be queued now:
// Lambda goes on from there, so nothing overtakes it. One that cannot be read is
// skipped, as none of those behind it could pass it. What was queued is published
// too, unless bus is nil.
func Automations(read EventReader, to *delivery.Dispatcher, bus delivery.Bus, log *slog.Logger) FanoutHandler {
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		ctx, cancel := timeToAnswer(ctx)
		defer cancel()
		errs := make([]error, len(event.Records))
		var queued published
		for i, record := range event.Records {
			var happened []delivery.Event
			if happened, errs[i] = dispatch(ctx, read, to, record, log); errs[i] != nil {
				break
			}
			queued.add(i, happened)
		}
		if bus != nil {
			queued.publish(ctx, bus, errs)
		}
		return failures(ctx, event.Records, errs, log), nil
	}
}

// dispatch queues what happened in one change.
func dispatch(
	ctx context.Context, read EventReader, to *delivery.Dispatcher, record events.DynamoDBEventRecord, log *slog.Logger,
) ([]delivery.Event, error) {
	happened, err := eventsOf(ctx, read, record)
	if err != nil && !mayPass(err) {
		skip(ctx, record, err, log)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range happened {
		err := queueSafely(ctx, to, e)
		if err != nil && (mayPass(err) || errors.Is(err, delivery.ErrUnqueued)) {
			return nil, err
		}
		if err != nil { // of one who is to be told, such as an item that cannot be read
			skip(ctx, record, err, log)
		}
	}
	return happened, nil
}

// queueSafely takes a panic for one more way not to be readable.
func queueSafely(ctx context.Context, to *delivery.Dispatcher, e delivery.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return to.Dispatch(ctx, e)
}

// skip tells of a change that is passed over, so that those behind it come to
// their turn.
func skip(ctx context.Context, record events.DynamoDBEventRecord, err error, log *slog.Logger) {
	metrics.Count(ctx, metrics.ItemsSkipped, 1)
	log.ErrorContext(ctx, "a change is skipped, as it cannot be read", "record", record.Change.SequenceNumber, "error", err)
}

// eventsOf reads what happened in one change. A panic is one more way to be
// unreadable.
func eventsOf(
	ctx context.Context, read EventReader, record events.DynamoDBEventRecord,
) (happened []delivery.Event, err error) {
	defer func() {
		if v := recover(); v != nil {
			happened, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	change, err := changeOf(record)
	if err != nil {
		return nil, err
	}
	return read(ctx, change)
}
