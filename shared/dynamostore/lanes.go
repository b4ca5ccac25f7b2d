package dynamostore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/delivery"
	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/plainjson"
)

var _ delivery.Lanes = (*Store)(nil)

// laneLife is how long a lane, and what is parked in it, is kept after it was
// changed last: far longer than anything is tried.
const laneLife = 4 * 24 * time.Hour

// laneItem is a delivery.Lane. Times are epoch milliseconds.
type laneItem struct {
	PK        string `dynamodbav:"PK"`
	SK        string `dynamodbav:"SK"`
	Version   int64  `dynamodbav:"v"`
	Turn      int64  `dynamodbav:"n"`
	Due       int64  `dynamodbav:"du,omitempty"`
	Holder    string `dynamodbav:"w,omitempty"`
	Leased    int64  `dynamodbav:"le,omitempty"`
	Failures  int    `dynamodbav:"f,omitempty"`
	Head      string `dynamodbav:"h,omitempty"`
	HeadTries int    `dynamodbav:"ht,omitempty"`
	Slow      int64  `dynamodbav:"sl,omitempty"`
	Expires   int64  `dynamodbav:"expires"`
}

// parkedItem is a delivery.Parked.
type parkedItem struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	Delivery string `dynamodbav:"d"` // JSON
	Tries    int    `dynamodbav:"n"`
	Queued   int64  `dynamodbav:"q"`
	Expires  int64  `dynamodbav:"expires"`
}

// Lane implements delivery.Lanes. It takes one read unit, and half of one more for
// each 2 KB of what is there.
func (s *Store) Lane(ctx context.Context, group string) (delivery.Lane, error) {
	var item laneItem
	if _, err := s.get(ctx, laneKey(group), &item); err != nil {
		return delivery.Lane{}, err
	}
	return delivery.Lane{
		Group: group, Version: item.Version, Turn: item.Turn, Due: timeOf(item.Due), Holder: item.Holder,
		Leased: timeOf(item.Leased), Failures: item.Failures, Head: item.Head, HeadTries: item.HeadTries, Slow: timeOf(item.Slow),
	}, nil
}

// SaveLane implements delivery.Lanes.
func (s *Store) SaveLane(ctx context.Context, l delivery.Lane) error {
	return laneError(s.put(ctx, s.laneItem(l), unchangedLane(l), nil))
}

// CloseLane implements delivery.Lanes.
func (s *Store) CloseLane(ctx context.Context, l delivery.Lane) error {
	c := unchangedLane(l)
	return laneError(untilDecided(ctx, func() error {
		_, err := s.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &s.table, Key: laneKey(l.Group).attributes(), ConditionExpression: &c.expression,
			ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		})
		return conditionError(err, nil)
	}))
}

// Park implements delivery.Lanes. It takes two write units, and two for each
// delivery of up to 1 KB.
func (s *Store) Park(ctx context.Context, l delivery.Lane, all []delivery.Parked) error {
	first, err := s.transactPut(s.laneItem(l), unchangedLane(l))
	if err != nil {
		return err
	}
	writes := []types.TransactWriteItem{first}
	for _, p := range all {
		text, err := plainjson.Marshal(p.Delivery)
		if err != nil {
			return fmt.Errorf("encode a delivery: %w", err)
		}
		k := parkedKey(l.Group, p.Place)
		put, err := s.transactPut(parkedItem{
			PK: k.pk, SK: k.sk, Delivery: string(text), Tries: p.Tries, Queued: p.Queued.UnixMilli(),
			Expires: s.now().Add(laneLife).Unix(),
		}, condition{})
		if err != nil {
			return err
		}
		writes = append(writes, put)
	}
	return laneError(s.transact(ctx, writes...))
}

// Parked implements delivery.Lanes. One that cannot be read is told of, and left
// out for good.
func (s *Store) Parked(ctx context.Context, group string, n int) ([]delivery.Parked, error) {
	in := s.prefixQuery(lanePK(group), prefixParked, true)
	in.Limit = ptr(int32(n)) //nolint:gosec // a few
	var all []delivery.Parked
	err := s.queryPages(ctx, in, func(page []attributes) (bool, error) {
		var unreadable []attributes
		for _, item := range page {
			p, err := parkedOf(item)
			if err != nil {
				s.log.ErrorContext(ctx, "a delivery that cannot be read is dropped", "lane", group, "error", err)
				unreadable = append(unreadable, item)
				continue
			}
			all = append(all, p)
		}
		return len(all) == 0, s.deleteItems(ctx, unreadable)
	})
	return all, err
}

func parkedOf(item attributes) (delivery.Parked, error) {
	var stored parkedItem
	if err := attributevalue.UnmarshalMap(item, &stored); err != nil {
		return delivery.Parked{}, fmt.Errorf("unmarshal a delivery: %w", err)
	}
	p := delivery.Parked{
		Place: strings.TrimPrefix(stored.SK, prefixParked), Tries: stored.Tries, Queued: time.UnixMilli(stored.Queued),
	}
	if err := json.Unmarshal([]byte(stored.Delivery), &p.Delivery); err != nil {
		return p, fmt.Errorf("decode a delivery: %w", err)
	}
	return p, nil
}

// Unpark implements delivery.Lanes.
func (s *Store) Unpark(ctx context.Context, group, place string) error {
	return s.deleteItems(ctx, []attributes{parkedKey(group, place).attributes()})
}

// forgetTime is how long a request removes what waits for a target that is gone. A
// turn of the lane finds that there is nothing to deliver of what is left then.
const forgetTime = 15 * time.Second

// forgetLane removes the lane of a target that is gone, with what waits in it.
func (s *Store) forgetLane(ctx context.Context, t delivery.Target) error {
	limited, cancel := context.WithTimeout(ctx, forgetTime)
	defer cancel()
	err := s.emptyLane(limited, t.Group())
	late := limited.Err() != nil || errors.Is(err, fault.Of(fault.Busy))
	if err != nil && (!late || ctx.Err() != nil) {
		return fmt.Errorf("remove what waits for a target: %w", err)
	}
	return nil
}

// emptyLane removes what waits in a lane, and the lane last, unless it has changed
// meanwhile: what somebody parks then would wait without a lane, which no turn finds.
func (s *Store) emptyLane(ctx context.Context, group string) error {
	for try := 0; ; try++ {
		lane, err := s.Lane(ctx, group)
		if errors.Is(err, ErrUnreadable) {
			return s.deleteQuery(ctx, s.keysOnly(s.partition(lanePK(group))))
		}
		if err == nil && !lane.Slow.IsZero() { // a turn would keep it, where this ends in between
			lane.Slow = time.Time{}
			err = s.SaveLane(ctx, lane)
			lane.Version++
		}
		if err == nil {
			err = s.deleteQuery(ctx, s.keysOnly(s.prefixQuery(lanePK(group), prefixParked, true)))
		}
		if err == nil && lane.Version > 0 {
			err = s.CloseLane(ctx, lane)
		}
		if !errors.Is(err, delivery.ErrLaneChanged) {
			return err
		}
		if err := afterConflict(ctx, try); err != nil {
			return err
		}
	}
}

// deleteIdleLane are the writes that remove the lane of a target that goes, where
// there is one in which nothing waits: no turn would come for it any more.
func (s *Store) deleteIdleLane(ctx context.Context, t delivery.Target) ([]types.TransactWriteItem, error) {
	lane, err := s.Lane(ctx, t.Group())
	if errors.Is(err, ErrUnreadable) {
		return nil, nil
	}
	if err != nil || lane.Version == 0 || !lane.Due.IsZero() {
		return nil, err
	}
	return []types.TransactWriteItem{s.transactDelete(laneKey(lane.Group), unchangedLane(lane))}, nil
}

func (s *Store) laneItem(l delivery.Lane) laneItem {
	k := laneKey(l.Group)
	return laneItem{
		PK: k.pk, SK: k.sk, Version: l.Version + 1, Turn: l.Turn, Due: millisOf(l.Due), Holder: l.Holder,
		Leased: millisOf(l.Leased), Failures: l.Failures, Head: l.Head, HeadTries: l.HeadTries, Slow: millisOf(l.Slow),
		Expires: s.now().Add(laneLife).Unix(),
	}
}

// unchangedLane holds while a lane is as it was read, or is not there still.
func unchangedLane(l delivery.Lane) condition {
	if l.Version == 0 {
		return condition{expression: ifAbsent}
	}
	return condition{
		expression: "#v = :v", names: map[string]string{"#v": "v"}, values: attributes{":v": num(l.Version)},
	}
}

func laneError(err error) error {
	if errors.Is(err, errTaken) {
		return delivery.ErrLaneChanged
	}
	return err
}

// millisOf and timeOf keep the zero time apart from all others.
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
