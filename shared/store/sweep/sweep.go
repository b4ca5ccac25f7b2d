// Package sweep brings work that is due to those who do it: what fails keeps nothing else
// waiting, and each item gets its share of the time.
package sweep

import (
	"context"
	"errors"
	"slices"
	"time"

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
