package sessions

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// asideItem keeps an item of a lane that cannot be read, for people to look at.
type asideItem struct {
	PK      string     `dynamodbav:"PK"`
	SK      string     `dynamodbav:"SK"`
	Item    attributes `dynamodbav:"i"`
	Expires int64      `dynamodbav:"expires"`
}

// setAside is the write that keeps a copy of an item that cannot be read.
func (s *Store) setAside(item attributes) (types.TransactWriteItem, error) {
	k := keyOf(item)
	return s.transactPut(asideItem{
		PK: k.pk, SK: asideSK(k.sk, s.millis()), Item: item, Expires: s.now().Add(laneLife).Unix(),
	}, condition{})
}

// mendLane puts a new lane in the place of one that cannot be read. What waits in it
// stays, and whoever comes next calls its turn, since it is long due. errTaken where
// the lane has changed.
func (s *Store) mendLane(ctx context.Context, group string, raw attributes, why error) (delivery.Lane, error) {
	lane := delivery.Lane{
		Group: group, Version: wholeOf(raw["v"]), Turn: max(1, wholeOf(raw["n"])), Due: time.UnixMilli(1),
	}
	aside, err := s.setAside(raw)
	if err != nil {
		return lane, err
	}
	fresh, err := s.transactPut(s.laneItem(lane), sameAttribute("v", raw["v"]))
	if err != nil {
		return lane, err
	}
	if err := s.transact(ctx, aside, fresh); err != nil {
		return lane, err
	}
	s.leftOut(ctx, keyOf(raw), why)
	lane.Version++
	return lane, nil
}

// setParkedAside takes a delivery that cannot be read out of its lane.
func (s *Store) setParkedAside(ctx context.Context, item attributes, why error) error {
	aside, err := s.setAside(item)
	if err != nil {
		return err
	}
	err = s.transact(ctx, aside, s.transactDelete(keyOf(item), condition{expression: "attribute_exists(PK)"}))
	if errors.Is(err, errTaken) {
		return nil // somebody else did
	}
	if err == nil {
		s.leftOut(ctx, keyOf(item), why)
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
func sameAttribute(name string, value types.AttributeValue) condition {
	c := condition{expression: "attribute_exists(PK) AND attribute_not_exists(#a)", names: map[string]string{"#a": name}}
	if value != nil {
		c.expression, c.values = "#a = :a", attributes{":a": value}
	}
	return c
}
