// Package sweep brings work that is due to the rooms that do it: what fails keeps nothing
// else waiting, and each item gets its share of the time. It is a package of its own since
// runs, archives and lifecycle, which import each other downwards only, share it.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Grace is how long after its deletion a log is swept once more: by then no request that
// read the session before can still write.
const Grace = 15 * time.Minute

const (
	// postpone is how long an item rests that cannot be handled: long enough to
	// leave the time to others, and short enough that an alarm over five minutes
	// stays raised.
	postpone = 4 * time.Minute
	// parallel is how many items of a sweep are handled at once.
	parallel = 4
	// maxFailures is how many requests in a row may fail before a sweep leaves the
	// table in peace until the next one.
	maxFailures = 10
	// MoveTime is how long moving an item may take when the sweep's time is over.
	MoveTime = 3 * time.Second
	// reported is how many failures of a sweep are told one by one.
	reported = 5
)

// Visit handles one item that is due; done is false where nothing was to be
// done. It may be stopped and repeated at any point.
type Visit func(ctx context.Context, k table.Key) (done bool, err error)

// EachShard sweeps the shards of one kind of work, each in its share of the time
// that is left, and returns the total and the errors.
func EachShard(
	ctx context.Context, n uint32, name func(uint32) string, sweep func(context.Context, string) (int, error),
) (int, error) {
	sum := 0
	var failures []error
	for shard := range n {
		own, cancel := share(ctx, int(n-shard))
		done, err := sweep(own, name(shard))
		cancel()
		sum += done
		failures = append(failures, err)
	}
	return sum, errors.Join(failures...)
}

// share returns a context with an equal share of the time that is left.
func share(ctx context.Context, among int) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(among))
	}
	return context.WithCancel(ctx)
}

// Due brings what is due in a partition of the index to visit, oldest first, and
// returns how many were done. An item that fails keeps no other waiting: it is
// counted, and moved behind those that are due now, or aside for a while where the
// fault is its own. One item takes half of the time that is left at most, and goes
// on behind the others in the next sweep.
func Due(ctx context.Context, b records.Base, gpk string, due int64, visit Visit) (int, error) {
	return Pages(ctx, b, gpk, due, func(context.Context, []table.Key) Visit { return visit })
}

// Pages is Due for items that are read together: prepare sees the keys of
// each page.
func Pages(
	ctx context.Context, b records.Base, gpk string, due int64, prepare func(context.Context, []table.Key) Visit,
) (int, error) {
	w, end := &sweeping{b: b, gpk: gpk, due: due}, keys.ActivitySK(due, "")
	err := b.DB.Pages(ctx, table.Query{
		Index: store.ActivityIndex, Partition: gpk, To: end,
	}, func(page []table.Item) (bool, error) {
		page = slices.DeleteFunc(page, func(item table.Item) bool { return table.Text(item, keys.AttrGSK) == end })
		keys := make([]table.Key, len(page))
		for i, item := range page {
			keys[i] = records.KeyOf(item)
		}
		w.page(ctx, page, prepare(ctx, keys))
		return ctx.Err() == nil && !w.failing(), nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return w.done, errors.Join(w.failure(), w.ended(err))
}

// sweeping is a sweep under way.
type sweeping struct {
	b   records.Base
	gpk string
	due int64

	mu       sync.Mutex
	done     int
	failed   int
	inARow   int // consecutive requests that failed
	failures []error
}

func (w *sweeping) page(ctx context.Context, items []table.Item, visit Visit) {
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, item := range items {
		if ctx.Err() != nil || w.failing() {
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
func (w *sweeping) item(ctx context.Context, item table.Item, visit Visit) {
	own, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		own, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	defer cancel()
	k := records.KeyOf(item)
	done, err := visitSafely(own, k, visit)
	switch {
	case err == nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inARow = 0
		if done {
			w.done++
		}
	case own.Err() != nil: // not finished: others go first
		w.b.Log.InfoContext(ctx, "an item takes longer than its share of the sweep", "kind", w.gpk, "item", k.PK+" "+k.SK)
		w.move(ctx, item, 0)
	case temporary(err):
		w.fail(ctx, k, err, 1)
		w.move(ctx, item, 0)
	default:
		w.fail(ctx, k, err, 0)
		w.move(ctx, item, postpone)
	}
}

// visitSafely treats a panic as an error of the item.
func visitSafely(ctx context.Context, k table.Key, visit Visit) (done bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			done, err = false, fmt.Errorf("panic: %v", v)
		}
	}()
	return visit(ctx, k)
}

// move puts an item behind what is due now, plus a delay, unless another sweep has
// moved it. If that fails the next sweep handles the item again.
func (w *sweeping) move(ctx context.Context, item table.Item, by time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), MoveTime)
	defer cancel()
	was, line := table.Text(item, keys.AttrGSK), table.Path{keys.AttrGSK}
	_, id, _ := strings.Cut(was, "#")
	err := w.b.DB.Update(ctx, records.KeyOf(item),
		[]table.Change{table.Set(line, keys.ActivitySK(w.due+by.Milliseconds(), id))}, table.Equal(line, was))
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		w.b.Log.WarnContext(ctx, "an item that cannot be swept could not be postponed", "kind", w.gpk, "error", err)
	}
}

func (w *sweeping) fail(ctx context.Context, k table.Key, err error, inARow int) {
	metrics.Count(ctx, metrics.ItemsSkipped, 1)
	err = fmt.Errorf("%s %s: %w", k.PK, k.SK, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	w.inARow = inARow * (w.inARow + inARow)
	if len(w.failures) < reported {
		w.failures = append(w.failures, err)
		w.b.Log.ErrorContext(ctx, "an item cannot be swept and is postponed", "kind", w.gpk, "error", err)
	}
}

// failing reports whether too many consecutive requests have failed.
func (w *sweeping) failing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inARow >= maxFailures
}

// failure returns the errors of items, nil for none.
func (w *sweeping) failure() error {
	if w.failed == 0 {
		return nil
	}
	return fmt.Errorf("%d items of %s failed, such as: %w", w.failed, w.gpk, errors.Join(w.failures...))
}

// ended returns why a sweep ended early, unless its time is over: the next sweep
// continues.
func (w *sweeping) ended(err error) error {
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return fmt.Errorf("sweep %s: %w", w.gpk, err)
}

// temporary reports whether an error is temporary, of a failed request, rather than
// the fault of the item that the request concerned.
func temporary(err error) bool {
	return errors.Is(err, fault.Of(fault.Busy)) || errors.Is(err, table.ErrThrottled) || errors.Is(err, table.ErrUndecided) ||
		errors.Is(err, table.ErrDenied) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
