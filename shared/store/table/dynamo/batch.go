package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

const (
	readBatch  = 100
	writeBatch = 25
	// parallel is the maximum number of concurrent requests of one call.
	parallel = 16
	// fruitless is after how many requests in a row without progress a batch fails.
	fruitless = 10

	shortestWait = 5 * time.Millisecond
	longestWait  = 500 * time.Millisecond
)

// BatchGet reads many items.
func (e *Engine) BatchGet(ctx context.Context, keys []table.Key, r table.Reading) ([]table.Item, table.Units, error) {
	refusals := []error{table.ValidateReading(r)}
	for _, k := range keys {
		refusals = append(refusals, table.ValidateKey(k))
	}
	if err := firstError(ctx, refusals...); err != nil {
		return nil, table.Units{}, err
	}
	var found []table.Item
	units, err := inParts(ctx, distinct(keys), readBatch, func(ctx context.Context, part []table.Key, add func(func())) (table.Units, error) {
		items, units, err := e.readPart(ctx, part, r)
		add(func() { found = append(found, items...) })
		return units, err
	})
	if err != nil {
		return nil, units, err
	}
	return found, units, nil
}

// BatchWrite carries out puts and deletes.
func (e *Engine) BatchWrite(ctx context.Context, writes []table.Write) (table.Units, error) {
	if err := firstError(ctx, e.schema.ValidateBatch(writes)); err != nil {
		return table.Units{}, err
	}
	requests := make([]types.WriteRequest, len(writes))
	for i, w := range writes {
		if w.Kind == table.DeleteKind {
			requests[i].DeleteRequest = &types.DeleteRequest{Key: keyItem(w.Key)}
		} else {
			requests[i].PutRequest = &types.PutRequest{Item: w.Item}
		}
	}
	return inParts(ctx, requests, writeBatch, func(ctx context.Context, part []types.WriteRequest, _ func(func())) (table.Units, error) {
		return e.writePart(ctx, part)
	})
}

// inParts sends a batch in parts, several concurrently, and adds up their units.
// Functions passed to add run one at a time.
func inParts[T any](
	ctx context.Context, all []T, size int,
	send func(ctx context.Context, part []T, add func(func())) (table.Units, error),
) (table.Units, error) {
	var mu sync.Mutex
	var units table.Units
	add := func(do func()) {
		mu.Lock()
		defer mu.Unlock()
		do()
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for part := range slices.Chunk(all, size) {
		group.Go(func() error {
			u, err := send(ctx, part, add)
			add(func() { units = units.Plus(u) })
			return err
		})
	}
	return units, group.Wait()
}

func (e *Engine) readPart(ctx context.Context, keys []table.Key, r table.Reading) ([]table.Item, table.Units, error) {
	var x expressions
	request := types.KeysAndAttributes{ConsistentRead: &r.Consistent, ProjectionExpression: x.members(r.Members)}
	request.ExpressionAttributeNames = x.names
	for _, k := range keys {
		request.Keys = append(request.Keys, keyItem(k))
	}
	var found []table.Item
	var units, least table.Units
	err := untilProcessed(ctx, len(request.Keys), func() (int, error) {
		var a attempts
		out, err := e.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{e.name: request}, ReturnConsumedCapacity: total,
		}, a.use)
		if err != nil {
			return 0, a.classified(ctx, err, false)
		}
		items := out.Responses[e.name]
		found = append(found, items...)
		request.Keys = out.UnprocessedKeys[e.name].Keys
		units = units.Plus(sum(out.ConsumedCapacity))
		for _, item := range items {
			least.Read += table.ReadUnits(value.Size(item), r.Consistent)
		}
		return len(request.Keys), nil
	})
	// A missing key is charged too, which DynamoDB Local does not report.
	missing := len(keys) - len(found) - len(request.Keys)
	least.Read += float64(missing) * table.ReadUnits(0, r.Consistent)
	return found, table.Units{Read: max(units.Read, least.Read)}, err
}

func (e *Engine) writePart(ctx context.Context, part []types.WriteRequest) (table.Units, error) {
	var units table.Units
	err := untilProcessed(ctx, len(part), func() (int, error) {
		var a attempts
		out, err := e.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{e.name: part}, ReturnConsumedCapacity: total,
		}, a.use)
		if err != nil {
			return 0, a.classified(ctx, err, true)
		}
		part = out.UnprocessedItems[e.name]
		units.Write += sum(out.ConsumedCapacity).Read
		return len(part), nil
	})
	return units, err
}

// sum returns the units that an answer reports, as reads.
func sum(all []types.ConsumedCapacity) table.Units {
	var units table.Units
	for _, c := range all {
		units.Read += reported(&c)
	}
	return units
}

// errLeftOver says that a table left a part of a batch unprocessed.
var errLeftOver = errors.New("a part of a batch is left over")

// untilProcessed calls send until it reports no leftovers, with a back-off between
// calls. It returns ErrThrottled if the table makes no progress many times in a row,
// or until the context's deadline.
func untilProcessed(ctx context.Context, left int, send func() (left int, err error)) error {
	failures := 0
	leftOver := func(err error) bool { return errors.Is(err, errLeftOver) }
	err := retry.Do(ctx, retry.Policy{First: shortestWait, Max: longestWait}, leftOver, func() error {
		now, err := send()
		if err != nil || now == 0 {
			return err
		}
		if failures++; now < left {
			failures = 0
		}
		if left = now; failures == fruitless {
			return fmt.Errorf("%w: %d of a batch are left over", table.ErrThrottled, left)
		}
		return fmt.Errorf("%w: %d", errLeftOver, left)
	})
	if errors.Is(err, retry.ErrExhausted) {
		return fmt.Errorf("%w: %w", table.ErrThrottled, err)
	}
	return err
}

func distinct(keys []table.Key) []table.Key {
	seen := make(map[table.Key]bool, len(keys))
	return slices.DeleteFunc(slices.Clone(keys), func(k table.Key) bool {
		again := seen[k]
		seen[k] = true
		return again
	})
}
