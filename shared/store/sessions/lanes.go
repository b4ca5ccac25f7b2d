package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/rethread/rethread/shared/domain/delivery"
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

// Lane implements delivery.Lanes. It takes one read unit, and half of one more for
// each 2 KB of what is there.
func (s *Store) Lane(ctx context.Context, group string) (delivery.Lane, error) {
	for try := 0; ; try++ {
		raw, err := s.getRaw(ctx, laneKey(group))
		if err != nil {
			return delivery.Lane{}, err
		}
		lane, err := s.laneOf(ctx, group, raw)
		if !errors.Is(err, errTaken) {
			return lane, err
		}
		if err := afterConflict(ctx, try); err != nil {
			return delivery.Lane{}, err
		}
	}
}

// laneOf reads the item of a lane, or of none. One that cannot be read is replaced;
// errTaken where it changed meanwhile.
func (s *Store) laneOf(ctx context.Context, group string, raw attributes) (delivery.Lane, error) {
	var item laneItem
	if err := attributevalue.UnmarshalMap(raw, &item); err != nil {
		return s.mendLane(ctx, group, raw, err)
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
