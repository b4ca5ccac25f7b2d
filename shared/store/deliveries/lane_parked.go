package deliveries

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
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
func (s *Lanes) Park(ctx context.Context, l delivery.Lane, all []delivery.Parked) error {
	writes := []table.Write{table.Put(s.laneItem(l), unchangedLane(l))}
	for _, p := range all {
		text, err := jsonx.Marshal(p.Delivery)
		if err != nil {
			return fmt.Errorf("encode a delivery: %w", err)
		}
		k := parkedKey(l.Group, p.Position)
		writes = append(writes, table.Put(parkedItem{
			PK: k.PK, SK: k.SK, Delivery: string(text), Tries: p.Tries, Queued: p.Queued.UnixMilli(),
			Expires: s.base.Now().Add(laneLife).Unix(),
		}))
	}
	return laneError(s.base.DB.Transact(ctx, writes...))
}

// Parked implements delivery.Lanes.
func (s *Lanes) Parked(ctx context.Context, group string, n int) ([]delivery.Parked, error) {
	q := records.Prefix(lanePK(group), parkedPrefix(group), true)
	q.Limit = n
	var all []delivery.Parked
	err := s.base.DB.Pages(ctx, q, func(page []table.Item) (bool, error) {
		for _, item := range page {
			p, err := parkedOf(group, item)
			if err == nil {
				all = append(all, p)
				continue
			}
			if err := s.quarantineParked(ctx, item, err); err != nil {
				return false, err
			}
		}
		return len(all) == 0, nil
	})
	return all, err
}

func parkedOf(group string, item table.Item) (delivery.Parked, error) {
	var stored parkedItem
	if err := table.Decode(item, &stored); err != nil {
		return delivery.Parked{}, fmt.Errorf("read a delivery: %w", err)
	}
	p := delivery.Parked{
		Position: strings.TrimPrefix(stored.SK, parkedPrefix(group)), Tries: stored.Tries, Queued: time.UnixMilli(stored.Queued),
	}
	if err := json.Unmarshal([]byte(stored.Delivery), &p.Delivery); err != nil {
		return p, fmt.Errorf("decode a delivery: %w", err)
	}
	return p, nil
}

// Unpark implements delivery.Lanes. It takes a write unit for each.
func (s *Lanes) Unpark(ctx context.Context, group string, places ...string) error {
	items := make([]table.Item, len(places))
	for i, place := range places {
		items[i] = parkedKey(group, place).Item()
	}
	return s.base.DB.DeleteItems(ctx, items)
}
