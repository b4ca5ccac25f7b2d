package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/sleep"
	"github.com/rethread/rethread/shared/observe/metrics"
)

const (
	writeBatchItems = 25
	readBatchItems  = 100
	// parallel bounds the requests that one call has under way at once.
	parallel = 16

	backoffStart = 5 * time.Millisecond
	backoffMost  = 500 * time.Millisecond
	// answerTime is left of a context's time when tries end, so that the caller
	// hears of it: a function that runs out of time is stopped without an answer.
	answerTime = 2 * time.Second
)

// busy tells a caller to come again in a second.
func busy(format string, args ...any) *fault.Error {
	f := fault.New(fault.Busy, format, args...)
	f.RetryAfter = time.Second
	return f
}

// backoff waits before another try: full jitter over a doubling ceiling. It is
// fault.Busy where the context leaves no time for one.
func backoff(ctx context.Context, try int) error { return backoffUpTo(ctx, try, backoffMost) }

// afterConflict waits before a piece of work is done again that lost a race.
func afterConflict(ctx context.Context, try int) error {
	metrics.Count(ctx, metrics.Conflicts, 1)
	return backoff(ctx, try)
}

func backoffUpTo(ctx context.Context, try int, most time.Duration) error {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < answerTime {
		return busy("too many requests meet here at once; try again")
	}
	if sleep.Retry(ctx, backoffStart, most, try) != nil {
		return ctx.Err()
	}
	return nil
}

// writeBatch carries out unconditional writes, in any order, until DynamoDB
// has taken them all. Repeating it is safe.
func (s *Store) writeBatch(ctx context.Context, writes []types.WriteRequest) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for part := range slices.Chunk(writes, writeBatchItems) {
		group.Go(func() error { return s.writePart(ctx, part) })
	}
	return group.Wait()
}

func (s *Store) writePart(ctx context.Context, part []types.WriteRequest) error {
	for try := 0; ; try++ {
		out, err := s.db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{s.table: part},
		})
		if err != nil {
			return fmt.Errorf("write a batch: %w", err)
		}
		if part = out.UnprocessedItems[s.table]; len(part) == 0 {
			return nil
		}
		if err := backoff(ctx, try); err != nil {
			return fmt.Errorf("write a batch, %d items unprocessed: %w", len(part), err)
		}
	}
}

// readBatch reads items by key, in any order and each once, as DynamoDB refuses
// a batch that names one twice; a missing one is left out.
func (s *Store) readBatch(ctx context.Context, keys []key, consistent bool) ([]attributes, error) {
	var found []attributes
	for part := range slices.Chunk(distinct(keys), readBatchItems) {
		request := types.KeysAndAttributes{ConsistentRead: &consistent}
		for _, k := range part {
			request.Keys = append(request.Keys, k.attributes())
		}
		for try := 0; len(request.Keys) > 0; try++ {
			if try > 0 {
				if err := backoff(ctx, try); err != nil {
					return nil, fmt.Errorf("read a batch, %d keys unprocessed: %w", len(request.Keys), err)
				}
			}
			out, err := s.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{s.table: request},
			})
			if err != nil {
				return nil, fmt.Errorf("read a batch: %w", err)
			}
			found = append(found, out.Responses[s.table]...)
			request.Keys = out.UnprocessedKeys[s.table].Keys
		}
	}
	return found, nil
}

func distinct(keys []key) []key {
	seen := make(map[key]bool, len(keys))
	return slices.DeleteFunc(slices.Clone(keys), func(k key) bool {
		again := seen[k]
		seen[k] = true
		return again
	})
}

// deleteQuery deletes all items that a keysOnly query finds.
func (s *Store) deleteQuery(ctx context.Context, q *dynamodb.QueryInput) error {
	return s.queryPages(ctx, q, func(page []attributes) (bool, error) {
		return true, s.deleteItems(ctx, page)
	})
}

func (s *Store) deleteItems(ctx context.Context, items []attributes) error {
	writes := make([]types.WriteRequest, 0, len(items))
	for _, item := range items {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{
			Key: attributes{attrPK: item[attrPK], attrSK: item[attrSK]},
		}})
	}
	return s.writeBatch(ctx, writes)
}

func ptr[T any](v T) *T { return &v }
