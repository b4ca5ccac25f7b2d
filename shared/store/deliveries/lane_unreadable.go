package deliveries

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

// quarantinedItem keeps an unreadable item of a lane for inspection.
type quarantinedItem struct {
	PK      string     `dynamodbav:"PK"`
	SK      string     `dynamodbav:"SK"`
	Item    table.Item `dynamodbav:"i"`
	Expires int64      `dynamodbav:"expires"`
}

// quarantine returns the write that keeps a copy of an unreadable item.
func (s *Lanes) quarantine(item table.Item) table.Write {
	k := records.KeyOf(item)
	return table.Put(quarantinedItem{
		PK: k.PK, SK: quarantineSK(k.SK, s.base.Millis()), Item: item, Expires: s.base.Now().Add(laneLife).Unix(),
	})
}

// repairLane replaces an unreadable lane by a new one. The deliveries parked in it
// stay, and the next caller starts its pass, since the new lane is overdue. It
// returns table.ErrConditionFailed if the lane changed concurrently.
func (s *Lanes) repairLane(ctx context.Context, group string, raw table.Item, why error) (delivery.Lane, error) {
	lane := delivery.Lane{
		Group: group, Version: wholeOf(raw[laneVersion]), Pass: max(1, wholeOf(raw[lanePass])), Due: time.UnixMilli(1),
	}
	fresh := table.Put(s.laneItem(lane), sameAttribute(laneVersion, raw[laneVersion]))
	if err := s.base.DB.Transact(ctx, s.quarantine(raw), fresh); err != nil {
		return lane, err
	}
	s.base.LeftOut(ctx, records.KeyOf(raw), why)
	lane.Version++
	return lane, nil
}

// quarantineParked removes an unreadable delivery from its lane.
func (s *Lanes) quarantineParked(ctx context.Context, item table.Item, why error) error {
	err := s.base.DB.Transact(ctx, s.quarantine(item), table.Delete(records.KeyOf(item), table.ItemExists()))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil // another caller did
	}
	if err == nil {
		s.base.LeftOut(ctx, records.KeyOf(item), why)
	}
	return err
}

// wholeOf returns an attribute's integer value; 0 if it has none.
func wholeOf(value types.AttributeValue) int64 {
	n, ok := value.(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	whole, _ := strconv.ParseInt(n.Value, 10, 64)
	return whole
}

// sameAttribute holds while an item still has this attribute, or still lacks it.
func sameAttribute(name string, value types.AttributeValue) table.Condition {
	if value == nil {
		return table.And(table.ItemExists(), table.NotExists(table.Path{name}))
	}
	return table.Equal(table.Path{name}, value)
}
