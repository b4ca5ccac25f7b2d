package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/metrics"
)

const (
	// sweepAside is how long an item rests that cannot be handled: long enough to
	// leave the time to others, and short enough that an alarm over five minutes
	// stays raised.
	sweepAside = 4 * time.Minute
	// sweepParallel is how many items of a sweep are handled at once.
	sweepParallel = 4
	// sweepUnwell is how many requests in a row may fail before a sweep leaves the
	// table in peace until the next one.
	sweepUnwell = 10
	// sweepMove is how long moving an item may take when the sweep's time is over.
	sweepMove = time.Second
	// sweepTold is how many failures of a sweep are told one by one.
	sweepTold = 5
)

// sweepVisit handles one item that is due; done is false where nothing was to be
// done. It may be stopped and repeated at any point.
type sweepVisit func(ctx context.Context, k key) (done bool, err error)

// sweep brings what is due in a partition of the index to visit, oldest first, and
// returns how many were done. An item that fails keeps no other waiting: it is
// counted, and moved behind those that are due now, or aside for a while where the
// fault is its own. One item takes half of the time that is left at most, and goes
// on behind the others in the next sweep.
func (s *Store) sweep(ctx context.Context, gpk string, due int64, visit sweepVisit) (int, error) {
	return s.sweepPages(ctx, gpk, due, func(context.Context, []key) sweepVisit { return visit })
}

// sweepPages is sweep for items that are read together: prepare sees the keys of
// each page.
func (s *Store) sweepPages(
	ctx context.Context, gpk string, due int64, prepare func(context.Context, []key) sweepVisit,
) (int, error) {
	w := &sweeping{s: s, gpk: gpk, due: due}
	err := s.queryPages(ctx, &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String(activityIndex),
		KeyConditionExpression:    aws.String("GPK = :g AND GSK < :due"),
		ExpressionAttributeValues: attributes{":g": str(gpk), ":due": str(activitySK(due, ""))},
	}, func(page []attributes) (bool, error) {
		keys := make([]key, len(page))
		for i, item := range page {
			keys[i] = key{stringOf(item[attrPK]), stringOf(item[attrSK])}
		}
		w.page(ctx, page, prepare(ctx, keys))
		return ctx.Err() == nil && !w.unwell(), nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return w.done, errors.Join(w.failure(), w.ended(err))
}

// sweeping is a sweep under way.
type sweeping struct {
	s   *Store
	gpk string
	due int64

	mu       sync.Mutex
	done     int
	failed   int
	inARow   int // requests that failed, one after the other
	failures []error
}

func (w *sweeping) page(ctx context.Context, items []attributes, visit sweepVisit) {
	var group errgroup.Group
	group.SetLimit(sweepParallel)
	for _, item := range items {
		if ctx.Err() != nil || w.unwell() {
			break
		}
		group.Go(func() error {
			w.item(ctx, item, visit)
			return nil
		})
	}
	_ = group.Wait() // they return none
}

// item handles one item in its share of the time.
func (w *sweeping) item(ctx context.Context, item attributes, visit sweepVisit) {
	own, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		own, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	defer cancel()
	k := key{stringOf(item[attrPK]), stringOf(item[attrSK])}
	done, err := visitSafely(own, k, visit)
	switch {
	case err == nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inARow = 0
		if done {
			w.done++
		}
	case own.Err() != nil: // not over yet: the others first
		w.s.log.InfoContext(ctx, "what is swept takes longer", "kind", w.gpk, "item", k.pk+" "+k.sk)
		w.move(ctx, item, 0)
	case momentary(err):
		w.fail(ctx, k, err, 1)
		w.move(ctx, item, 0)
	default:
		w.fail(ctx, k, err, 0)
		w.move(ctx, item, sweepAside)
	}
}

// visitSafely takes a panic for one more way to be unreadable.
func visitSafely(ctx context.Context, k key, visit sweepVisit) (done bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			done, err = false, fmt.Errorf("panic: %v", v)
		}
	}()
	return visit(ctx, k)
}

func (w *sweeping) fail(ctx context.Context, k key, err error, inARow int) {
	metrics.Count(ctx, metrics.ItemsSkipped, 1)
	err = fmt.Errorf("%s %s: %w", k.pk, k.sk, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	w.inARow = inARow * (w.inARow + inARow)
	if len(w.failures) < sweepTold {
		w.failures = append(w.failures, err)
		w.s.log.ErrorContext(ctx, "an item cannot be swept, and waits aside", "kind", w.gpk, "error", err)
	}
}

// move puts an item behind what is due now, and by so much more, unless somebody
// else has moved it. Where that fails the item comes again with the next sweep.
func (w *sweeping) move(ctx context.Context, item attributes, by time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepMove)
	defer cancel()
	was := stringOf(item[attrGSK])
	_, id, _ := strings.Cut(was, "#")
	err := w.s.update(ctx, key{stringOf(item[attrPK]), stringOf(item[attrSK])}, "SET GSK = :to", condition{
		expression: "GSK = :was",
		values:     attributes{":was": str(was), ":to": str(activitySK(w.due+by.Milliseconds(), id))},
	})
	if err != nil && !errors.Is(err, errTaken) {
		w.s.log.WarnContext(ctx, "what cannot be swept stays first in its line", "kind", w.gpk, "error", err)
	}
}

// unwell reports whether too many requests have failed in a row.
func (w *sweeping) unwell() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inARow >= sweepUnwell
}

// failure is what went wrong with items, nil for nothing.
func (w *sweeping) failure() error {
	if w.failed == 0 {
		return nil
	}
	return fmt.Errorf("%d items of %s failed, such as: %w", w.failed, w.gpk, errors.Join(w.failures...))
}

// ended is why a sweep ended early, but for its time: what is left comes with the
// next one.
func (w *sweeping) ended(err error) error {
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return fmt.Errorf("sweep %s: %w", w.gpk, err)
}

// momentary reports whether an error is one of the moment, of a request that
// failed, rather than one of the item that the request was about.
func momentary(err error) bool {
	var request *smithy.OperationError
	var answer smithy.APIError
	switch {
	case errors.Is(err, fault.Of(fault.Busy)), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return true
	case errors.As(err, &answer) && answer.ErrorCode() == "ValidationException":
		return false
	default:
		return errors.As(err, &request)
	}
}

// eachShard sweeps the shards of one kind of work, each in its share of the time
// that is left; the sum is returned, and what went wrong with any.
func eachShard(
	ctx context.Context, n uint32, name func(uint32) string, sweep func(context.Context, string) (int, error),
) (int, error) {
	sum := 0
	var failures []error
	for shard := range n {
		own, cancel := shareOfTime(ctx, int(n-shard))
		done, err := sweep(own, name(shard))
		cancel()
		sum += done
		failures = append(failures, err)
	}
	return sum, errors.Join(failures...)
}

// shareOfTime is a context for the first of so many that share the time left.
func shareOfTime(ctx context.Context, among int) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(among))
	}
	return context.WithCancel(ctx)
}

// eachOf does something about each of several, and goes on past those that fail
// until the context ends. The error names some of them.
func eachOf[T any](ctx context.Context, all []T, do func(T) error) error {
	var failures []error
	failed := 0
	for _, one := range all {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failures, err)...)
		}
		if err := do(one); err != nil {
			if failed++; len(failures) < sweepTold {
				failures = append(failures, err)
			}
		}
	}
	if failed > len(failures) {
		failures = append(failures, fmt.Errorf("and %d more", failed-len(failures)))
	}
	return errors.Join(failures...)
}

// eachItem does something about each item that a query finds, and goes on past
// those that fail. The error names some of each page.
func (s *Store) eachItem(ctx context.Context, q *dynamodb.QueryInput, do func(attributes) error) error {
	var failures []error
	err := s.queryPages(ctx, q, func(page []attributes) (bool, error) {
		if err := eachOf(ctx, page, do); err != nil && len(failures) < sweepTold {
			failures = append(failures, err)
		}
		return true, ctx.Err()
	})
	return errors.Join(append(failures, err)...)
}
