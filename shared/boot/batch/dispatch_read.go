package batch

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// readAtOnce is how many changes are read concurrently.
const readAtOnce = 16

// reading is a change with its events and deliveries.
type reading struct {
	events     []notification.Event
	deliveries []delivery.Delivery
	err        error // temporary
}

// readChanges reads changes and finds their targets, several concurrently: each takes
// a few requests, and in sequence the last change would wait for all before it.
func readChanges(
	ctx context.Context, read EventReader, to *delivery.Dispatcher, records []events.DynamoDBEventRecord, log *slog.Logger,
) []reading {
	all := make([]reading, len(records))
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
) (out reading) {
	out.events, out.err = eventsOf(ctx, read, record)
	if out.err != nil {
		if !mayPass(out.err) {
			skip(ctx, record, out.err, log)
			return reading{}
		}
		return out
	}
	for _, e := range out.events {
		found, err := findSafely(ctx, to, e)
		if err != nil && mayPass(err) {
			out.err = err
			return out
		}
		if err != nil { // for one target, such as an item that cannot be decoded
			skip(ctx, record, err, log)
		}
		out.deliveries = append(out.deliveries, found...)
	}
	return out
}

// findSafely treats a panic like an error.
func findSafely(ctx context.Context, to *delivery.Dispatcher, e notification.Event) (found []delivery.Delivery, err error) {
	defer func() {
		if v := recover(); v != nil {
			found, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	return to.Find(ctx, e)
}

// skip logs and counts a change that is skipped so that those after it are processed.
func skip(ctx context.Context, record events.DynamoDBEventRecord, err error, log *slog.Logger) {
	metrics.Count(ctx, metrics.ItemsSkipped, 1)
	log.ErrorContext(ctx, "a change cannot be read or published and is skipped", "record", record.Change.SequenceNumber, "error", err)
}

// eventsOf reads the events of one change. It treats a panic like an error.
func eventsOf(
	ctx context.Context, read EventReader, record events.DynamoDBEventRecord,
) (found []notification.Event, err error) {
	defer func() {
		if v := recover(); v != nil {
			found, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	change, err := changeOf(record)
	if err != nil {
		return nil, err
	}
	return read(ctx, change)
}
