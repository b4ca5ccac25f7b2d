package sessions

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// sweepPostpone is how long an item rests that cannot be handled: long enough to
	// leave the time to others, and short enough that an alarm over five minutes
	// stays raised.
	sweepPostpone = 4 * time.Minute
	// sweepParallel is how many items of a sweep are handled at once.
	sweepParallel = 4
	// sweepMaxFailures is how many requests in a row may fail before a sweep leaves the
	// table in peace until the next one.
	sweepMaxFailures = 10
	// sweepMove is how long moving an item may take when the sweep's time is over.
	sweepMove = 3 * time.Second
	// sweepReported is how many failures of a sweep are told one by one.
	sweepReported = 5
)

// sweepVisit handles one item that is due; done is false where nothing was to be
// done. It may be stopped and repeated at any point.
type sweepVisit func(ctx context.Context, k table.Key) (done bool, err error)

// sweep brings what is due in a partition of the index to visit, oldest first, and
// returns how many were done. An item that fails keeps no other waiting: it is
// counted, and moved behind those that are due now, or aside for a while where the
// fault is its own. One item takes half of the time that is left at most, and goes
// on behind the others in the next sweep.
func (s *Store) sweep(ctx context.Context, gpk string, due int64, visit sweepVisit) (int, error) {
	return s.sweepPages(ctx, gpk, due, func(context.Context, []table.Key) sweepVisit { return visit })
}

// sweepPages is sweep for items that are read together: prepare sees the keys of
// each page.
func (s *Store) sweepPages(
	ctx context.Context, gpk string, due int64, prepare func(context.Context, []table.Key) sweepVisit,
) (int, error) {
	w, end := &sweeping{s: s, gpk: gpk, due: due}, activitySK(due, "")
	err := s.db.Pages(ctx, table.Query{
		Index: store.ActivityIndex, Partition: gpk, To: end,
	}, func(page []table.Item) (bool, error) {
		page = slices.DeleteFunc(page, func(item table.Item) bool { return table.Text(item, attrGSK) == end })
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
