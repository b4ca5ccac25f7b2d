package batch

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/store/runs"
)

const (
	// queuedAtOnce is how many sessions' queued runs begin concurrently.
	queuedAtOnce = 16
	// queuedTime is how long the starts of a batch may take together, since the
	// batch's shard waits for them. The sweeper starts what is left.
	queuedTime = 10 * time.Second
)

// QueuedStarter begins the first run of a session's queue, if it may begin now, and
// reports whether it did.
type QueuedStarter func(ctx context.Context, userID, sessionID string) (bool, error)

// StartingQueued is a handler that also begins the queued runs that the changes of a
// batch let begin. Their failures do not fail the batch, so that no session delays the
// changes of others: the sweeper starts what is left.
func StartingQueued(handle ChangesHandler, start QueuedStarter, log *slog.Logger) ChangesHandler {
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		var starts errgroup.Group
		starts.Go(func() error {
			startQueued(ctx, event.Records, start, log)
			return nil
		})
		response, err := handle(ctx, event)
		_ = starts.Wait() // it returns none
		return response, err
	}
}

func startQueued(ctx context.Context, records []events.DynamoDBEventRecord, start QueuedStarter, log *slog.Logger) {
	ctx, cancel := TimeToAnswer(ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, queuedTime)
	defer stop()
	type owned struct{ user, session string }
	seen := map[owned]bool{}
	var starts errgroup.Group
	starts.SetLimit(queuedAtOnce)
	for _, record := range records {
		change, err := changeOf(record)
		if err != nil {
			continue // the batch's handler reports it
		}
		user, session, ok := runs.StartsQueued(change)
		if one := (owned{user, session}); ok && !seen[one] {
			seen[one] = true
			starts.Go(func() error {
				if err := startSafely(ctx, user, session, start); err != nil {
					log.WarnContext(ctx, "a queued run is left to the sweeper", "session_id", session, "error", err)
				}
				return nil
			})
		}
	}
	_ = starts.Wait() // they return none
}

// startSafely treats a panic like an error.
func startSafely(ctx context.Context, user, session string, start QueuedStarter) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	_, err = start(ctx, user, session)
	return err
}
