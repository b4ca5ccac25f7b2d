package boot

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

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

// readAtOnce is how many changes are read at once.
const readAtOnce = 16

// Automations queues what happened for those who want to hear of it, for each of
// them in the order of the changes. It stops at the first change that cannot be read
// now, and says which is the first that cannot be queued: Lambda goes on from there,
// and what was queued behind it for others is queued again, and kept once. One that
// cannot be read is skipped, as none of those behind it could pass it. What was queued
// is published too, unless bus is nil.
func Automations(read EventReader, to *delivery.Dispatcher, bus delivery.Bus, log *slog.Logger) FanoutHandler {
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		ctx, cancel := timeToAnswer(ctx)
		defer cancel()
		all := readChanges(ctx, read, to, event.Records, log)
		errs := make([]error, len(event.Records))
		queueChanges(ctx, to, all, errs)
		if bus != nil {
			var queued published
			for i := 0; i < len(all) && errs[i] == nil; i++ {
				queued.add(i, all[i].happened)
			}
			queued.publish(ctx, bus, errs)
		}
		return failures(ctx, event.Records, errs, log), nil
	}
}

// told is a change as it is to be told.
type told struct {
	happened   []delivery.Event
	deliveries []delivery.Delivery
	err        error // that may pass
}

// readChanges reads changes and finds who is told of them, several at once: it takes a
// few requests for each, and with one after the other what happened last would wait
// for all before it.
func readChanges(
	ctx context.Context, read EventReader, to *delivery.Dispatcher, records []events.DynamoDBEventRecord, log *slog.Logger,
) []told {
	all := make([]told, len(records))
	var reading errgroup.Group
	reading.SetLimit(readAtOnce)
	for i, record := range records {
		reading.Go(func() error {
			all[i] = readChange(ctx, read, to, record, log)
			return nil
		})
	}
	_ = reading.Wait() // they return none
	return all
}

func readChange(
	ctx context.Context, read EventReader, to *delivery.Dispatcher, record events.DynamoDBEventRecord, log *slog.Logger,
) (out told) {
	out.happened, out.err = eventsOf(ctx, read, record)
	if out.err != nil {
		if !mayPass(out.err) {
			skip(ctx, record, out.err, log)
			return told{}
		}
		return out
	}
	for _, e := range out.happened {
		found, err := findSafely(ctx, to, e)
		if err != nil && mayPass(err) {
			out.err = err
			return out
		}
		if err != nil { // of one who is to be told, such as an item that cannot be read
			skip(ctx, record, err, log)
		}
		out.deliveries = append(out.deliveries, found...)
	}
	return out
}

// queueChanges queues the deliveries of the changes before the first that is to be
// read again, and notes as the error of each what could not be queued.
func queueChanges(ctx context.Context, to *delivery.Dispatcher, all []told, errs []error) {
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

// findSafely takes a panic for one more way not to be readable.
func findSafely(ctx context.Context, to *delivery.Dispatcher, e delivery.Event) (found []delivery.Delivery, err error) {
	defer func() {
		if v := recover(); v != nil {
			found, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	return to.Find(ctx, e)
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
