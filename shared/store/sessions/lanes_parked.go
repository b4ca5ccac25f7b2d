package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// parkedItem is a delivery.Parked.
type parkedItem struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	Delivery string `dynamodbav:"d"` // JSON
	Tries    int    `dynamodbav:"n"`
	Queued   int64  `dynamodbav:"q"`
	Expires  int64  `dynamodbav:"expires"`
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
		text, err := jsonx.Marshal(p.Delivery)
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

// Parked implements delivery.Lanes.
func (s *Store) Parked(ctx context.Context, group string, n int) ([]delivery.Parked, error) {
	in := s.prefixQuery(lanePK(group), parkedPrefix(group), true)
	in.Limit = ptr(int32(n)) //nolint:gosec // some hundreds
	var all []delivery.Parked
	err := s.queryPages(ctx, in, func(page []attributes) (bool, error) {
		for _, item := range page {
			p, err := parkedOf(group, item)
			if err == nil {
				all = append(all, p)
				continue
			}
			if err := s.setParkedAside(ctx, item, err); err != nil {
				return false, err
			}
		}
		return len(all) == 0, nil
	})
	return all, err
}

func parkedOf(group string, item attributes) (delivery.Parked, error) {
	var stored parkedItem
	if err := attributevalue.UnmarshalMap(item, &stored); err != nil {
		return delivery.Parked{}, fmt.Errorf("unmarshal a delivery: %w", err)
	}
	p := delivery.Parked{
		Place: strings.TrimPrefix(stored.SK, parkedPrefix(group)), Tries: stored.Tries, Queued: time.UnixMilli(stored.Queued),
	}
	if err := json.Unmarshal([]byte(stored.Delivery), &p.Delivery); err != nil {
		return p, fmt.Errorf("decode a delivery: %w", err)
	}
	return p, nil
}

// Unpark implements delivery.Lanes. It takes a write unit for each.
func (s *Store) Unpark(ctx context.Context, group string, places ...string) error {
	items := make([]attributes, len(places))
	for i, place := range places {
		items[i] = parkedKey(group, place).attributes()
	}
	return s.deleteItems(ctx, items)
}
