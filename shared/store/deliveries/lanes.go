package deliveries

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Lanes stores lanes in a table. It is safe for concurrent use.
type Lanes struct{ base records.Base }

var _ delivery.Lanes = (*Lanes)(nil)

// NewLanes returns the store of a table.
func NewLanes(base records.Base) *Lanes { return &Lanes{base: base} }

// laneLife is how long a lane and its parked deliveries are kept after the last
// change: far longer than any delivery is retried.
const laneLife = 4 * 24 * time.Hour

// laneItem is a delivery.Lane. Times are epoch milliseconds.
type laneItem struct {
	PK        string `dynamodbav:"PK"`
	SK        string `dynamodbav:"SK"`
	Version   int64  `dynamodbav:"v"`
	Pass      int64  `dynamodbav:"n"`
	Due       int64  `dynamodbav:"du,omitempty"`
	Holder    string `dynamodbav:"w,omitempty"`
	Leased    int64  `dynamodbav:"le,omitempty"`
	Failures  int    `dynamodbav:"f,omitempty"`
	Head      string `dynamodbav:"h,omitempty"`
	HeadTries int    `dynamodbav:"ht,omitempty"`
	Slow      int64  `dynamodbav:"sl,omitempty"`
	Expires   int64  `dynamodbav:"expires"`
}

const (
	laneVersion = "v"
	lanePass    = "n"
)

// Lane implements delivery.Lanes. It takes one read unit, plus half a unit for each
// further 2 KB of a stored lane.
func (s *Lanes) Lane(ctx context.Context, group string) (delivery.Lane, error) {
	return records.ContendedValue(ctx, func() (delivery.Lane, error) {
		raw, err := s.base.DB.GetItem(ctx, laneKey(group))
		if err != nil {
			return delivery.Lane{}, err
		}
		return s.laneOf(ctx, group, raw)
	})
}

// laneOf decodes the item of a lane, or returns a new lane if there is none. It
// replaces an unreadable item, and returns table.ErrConditionFailed if that changed
// concurrently.
func (s *Lanes) laneOf(ctx context.Context, group string, raw table.Item) (delivery.Lane, error) {
	var item laneItem
	if err := table.Decode(raw, &item); err != nil {
		return s.repairLane(ctx, group, raw, err)
	}
	return delivery.Lane{
		Group: group, Version: item.Version, Pass: item.Pass, Due: timeOf(item.Due), Holder: item.Holder,
		Leased: timeOf(item.Leased), Failures: item.Failures, Head: item.Head, HeadTries: item.HeadTries, Slow: timeOf(item.Slow),
	}, nil
}

// SaveLane implements delivery.Lanes.
func (s *Lanes) SaveLane(ctx context.Context, l delivery.Lane) error {
	return laneError(s.base.DB.Put(ctx, s.laneItem(l), unchangedLane(l)))
}

// CloseLane implements delivery.Lanes.
func (s *Lanes) CloseLane(ctx context.Context, l delivery.Lane) error {
	return laneError(s.base.DB.Delete(ctx, laneKey(l.Group), unchangedLane(l)))
}

func (s *Lanes) laneItem(l delivery.Lane) laneItem {
	k := laneKey(l.Group)
	return laneItem{
		PK: k.PK, SK: k.SK, Version: l.Version + 1, Pass: l.Pass, Due: millisOf(l.Due), Holder: l.Holder,
		Leased: millisOf(l.Leased), Failures: l.Failures, Head: l.Head, HeadTries: l.HeadTries, Slow: millisOf(l.Slow),
		Expires: s.base.Now().Add(laneLife).Unix(),
	}
}

// unchangedLane holds while a lane is as it was read, or still does not exist.
func unchangedLane(l delivery.Lane) table.Condition {
	if l.Version == 0 {
		return table.ItemNotExists()
	}
	return table.Equal(table.Path{laneVersion}, l.Version)
}

func laneError(err error) error {
	if errors.Is(err, table.ErrConditionFailed) {
		return delivery.ErrLaneChanged
	}
	return err
}

// millisOf and timeOf preserve the zero time.
func millisOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func timeOf(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}
