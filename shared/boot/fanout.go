package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
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

// FanoutHandler is the Lambda handler for a batch of the table's changes.
type FanoutHandler = func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// UpdateReader returns the watch messages of a change of the table.
type UpdateReader func(context.Context, records.Change) (watch.LogUpdate, error)

// StartFanout runs the function that sends changes to watchers until Lambda stops it.
// It posts to their connections at CONNECTIONS_URL.
func StartFanout() {
	Start(func(d Deps) (any, error) {
		pusher, err := d.pusher()
		if err != nil {
			return nil, err
		}
		posts, err := postRate(os.Getenv("POST_RATE"))
		if err != nil {
			return nil, err
		}
		return Fanout(d.Store.WatchMessages, watch.NewFanout(d.Store.Subscriptions, pusher, d.Log, time.Now).Paced(posts).
			Spread(PostedBy(lambda.NewFromConfig(d.AWS, once), os.Getenv(postVariable))), d.Log), nil
	})
}

// once has a request sent once: the fan-out posts itself what is refused.
func once(o *lambda.Options) { o.RetryMaxAttempts = 1 }

// postRate reads how many messages a second crowds are sent.
func postRate(text string) (int, error) {
	if text == "" {
		return watch.DefaultPostRate, nil
	}
	posts, err := strconv.Atoi(text)
	if err != nil || posts < 1 {
		return 0, fmt.Errorf("the environment variable POST_RATE must be a number from 1 on, not %q", text)
	}
	return posts, nil
}

// Fanout sends the watch messages of batches, and reports the records that must be
// processed again. A record that can never be read is skipped so that it does not
// block those after it; clients repair what they miss from the log.
func Fanout(read UpdateReader, to *watch.Fanout, log *slog.Logger) FanoutHandler {
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		ctx, cancel := timeToAnswer(ctx)
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

// timeToAnswer leaves some of Lambda's time to report failures.
func timeToAnswer(ctx context.Context) (context.Context, context.CancelFunc) {
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
