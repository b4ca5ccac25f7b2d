package lanes

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// asideItem keeps an item of a lane that cannot be read, for people to look at.
type asideItem struct {
	PK      string     `dynamodbav:"PK"`
	SK      string     `dynamodbav:"SK"`
	Item    table.Item `dynamodbav:"i"`
	Expires int64      `dynamodbav:"expires"`
}

// setAside is the write that keeps a copy of an item that cannot be read.
func (s *Store) setAside(item table.Item) table.Write {
	k := records.KeyOf(item)
	return table.Put(asideItem{
		PK: k.PK, SK: asideSK(k.SK, s.base.Millis()), Item: item, Expires: s.base.Now().Add(laneLife).Unix(),
	})
}

// mendLane puts a new lane in the place of one that cannot be read. What waits in it
// stays, and whoever comes next calls its turn, since it is long due.
// table.ErrConditionFailed where the lane has changed.
func (s *Store) mendLane(ctx context.Context, group string, raw table.Item, why error) (delivery.Lane, error) {
	lane := delivery.Lane{
		Group: group, Version: wholeOf(raw[laneVersion]), Turn: max(1, wholeOf(raw[laneTurn])), Due: time.UnixMilli(1),
	}
	fresh := table.Put(s.laneItem(lane), sameAttribute(laneVersion, raw[laneVersion]))
	if err := s.base.DB.Transact(ctx, s.setAside(raw), fresh); err != nil {
		return lane, err
	}
	s.base.LeftOut(ctx, records.KeyOf(raw), why)
	lane.Version++
	return lane, nil
}

// setParkedAside takes a delivery that cannot be read out of its lane.
func (s *Store) setParkedAside(ctx context.Context, item table.Item, why error) error {
	err := s.base.DB.Transact(ctx, s.setAside(item), table.Delete(records.KeyOf(item), table.ItemExists()))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil // somebody else did
	}
	if err == nil {
		s.base.LeftOut(ctx, records.KeyOf(item), why)
	}
	return err
}

// wholeOf is an attribute's whole number, 0 where it is none.
func wholeOf(value types.AttributeValue) int64 {
	n, ok := value.(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	whole, _ := strconv.ParseInt(n.Value, 10, 64)
	return whole
}

// sameAttribute holds while an item has this attribute still, or has none still.
func sameAttribute(name string, value types.AttributeValue) table.Condition {
	if value == nil {
		return table.And(table.ItemExists(), table.NotExists(table.At(name)))
	}
	return table.Equal(table.At(name), value)
}
