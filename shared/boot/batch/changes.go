package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/smithy-go"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// parallelUpdates is how many changes of a batch are read concurrently; few of them
	// need the table.
	parallelUpdates = 16
	// answerTime is the part of Lambda's time that a batch leaves to report failures.
	answerTime = 3 * time.Second
)

// ChangesHandler is the Lambda handler for a batch of the table's changes.
type ChangesHandler = func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// UpdateReader returns the watch messages of a change of the table.
type UpdateReader func(context.Context, records.Change) (watch.LogUpdate, error)

// Fanout sends the watch messages of batches, and reports the records that must be
// processed again. A record that can never be read is skipped so that it does not
// block those after it; clients repair what they miss from the log.
func Fanout(read UpdateReader, to *watch.Fanout, log *slog.Logger) ChangesHandler {
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		ctx, cancel := TimeToAnswer(ctx)
		defer cancel()
		news, errs := readUpdates(ctx, read, event.Records, log)
		for i, err := range to.Deliver(ctx, news) {
			if errors.Is(err, table.ErrUnreadable) {
				skip(ctx, event.Records[i], err, log)
				continue
			}
			errs[i] = errors.Join(errs[i], err)
		}
		return failures(ctx, event.Records, errs, log), nil
	}
}

// TimeToAnswer leaves some of Lambda's time to report failures.
func TimeToAnswer(ctx context.Context) (context.Context, context.CancelFunc) {
	return retry.Reserving(ctx, answerTime)
}

// readUpdates reads the messages of each record, in the records' order.
func readUpdates(
	ctx context.Context, read UpdateReader, records []events.DynamoDBEventRecord, log *slog.Logger,
) ([]watch.LogUpdate, []error) {
	news, errs := make([]watch.LogUpdate, len(records)), make([]error, len(records))
	places := make(chan struct{}, parallelUpdates)
	var running sync.WaitGroup
	for i, record := range records {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			told, err := updateOf(ctx, read, record)
			switch {
			case err == nil:
				news[i] = told
				news[i].Time = record.Change.ApproximateCreationDateTime.Time
			case mayPass(err):
				errs[i] = err
			default:
				skip(ctx, record, err, log)
			}
		})
	}
	running.Wait()
	return news, errs
}

// updateOf reads the messages of one record. It treats a panic like an error.
func updateOf(ctx context.Context, read UpdateReader, record events.DynamoDBEventRecord) (news watch.LogUpdate, err error) {
	defer func() {
		if v := recover(); v != nil {
			news, err = watch.LogUpdate{}, fmt.Errorf("panic: %v", v)
		}
	}()
	change, err := changeOf(record)
	if err != nil {
		return watch.LogUpdate{}, err
	}
	return read(ctx, change)
}

// changeOf converts a record to the store's form.
func changeOf(record events.DynamoDBEventRecord) (change records.Change, err error) {
	if change.Old, err = image(record.Change.OldImage); err != nil {
		return change, fmt.Errorf("old image: %w", err)
	}
	if change.New, err = image(record.Change.NewImage); err != nil {
		return change, fmt.Errorf("new image: %w", err)
	}
	return change, nil
}

// mayPass reports whether an error is temporary, of a failed request, rather than of
// the record.
func mayPass(err error) bool {
	var request *smithy.OperationError
	return errors.As(err, &request) || errors.Is(err, fault.Of(fault.Busy)) ||
		errors.Is(err, table.ErrThrottled) || errors.Is(err, table.ErrUndecided) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// failures returns the records to process again. Lambda continues from the first of
// them, so some are sent twice, which is harmless.
func failures(
	ctx context.Context, records []events.DynamoDBEventRecord, errs []error, log *slog.Logger,
) events.DynamoDBEventResponse {
	response := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	for i, err := range errs {
		if err == nil {
			continue
		}
		if len(response.BatchItemFailures) == 0 {
			log.WarnContext(ctx, "changes must be processed again", "records", len(records)-i, "error", err)
		}
		response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{
			ItemIdentifier: records[i].Change.SequenceNumber,
		})
	}
	return response
}
