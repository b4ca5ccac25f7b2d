package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/webhook"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Record implements webhook.Store.
func (s *Store) Record(ctx context.Context, userID, id, deliveryID string) (webhook.Record, error) {
	var item recordItem
	found, err := s.base.DB.Get(ctx, recordKey(userID, id, deliveryID), &item)
	if err != nil {
		return webhook.Record{}, err
	}
	if found {
		r, kept, err := s.recordOf(id, &item)
		if kept || err != nil {
			return r, err
		}
	}
	return webhook.Record{}, fault.Missing("Delivery")
}

// Records implements webhook.Store.
func (s *Store) Records(ctx context.Context, q webhook.RecordQuery) (webhook.RecordPage, error) {
	in := records.Prefix(recordsPK(q.UserID), recordPrefix(q.WebhookID), true)
	in.Descending = true
	if q.After != "" {
		in.To = recordPrefix(q.WebhookID) + q.After
	}
	var page webhook.RecordPage
	err := s.base.DB.Pages(ctx, in, func(items []table.Item) (bool, error) {
		for _, item := range records.DecodeItems[recordItem](ctx, s.base, items) {
			r, kept, err := s.recordOf(q.WebhookID, &item)
			if err != nil {
				s.base.LeftOut(ctx, table.NewKey(recordsPK(q.UserID), item.SK), err)
				continue
			}
			if !kept || r.ID == q.After {
				continue
			}
			if len(page.Records) == q.Limit {
				page.Next = page.Records[q.Limit-1].ID
				return false, nil
			}
			page.Records = append(page.Records, r)
		}
		return true, nil
	})
	if err != nil {
		return webhook.RecordPage{}, fmt.Errorf("list the deliveries of webhook %s: %w", q.WebhookID, err)
	}
	return page, nil
}

// DeliveredSince implements webhook.Targets. It reads the latest records first,
// since a delivered one is usually among them.
func (s *Store) DeliveredSince(ctx context.Context, userID, id string, since time.Time) (bool, error) {
	q := records.Prefix(recordsPK(userID), recordPrefix(id), true)
	q.Descending, q.Members = true, []string{recordDelivered}
	delivered := false
	err := s.base.DB.Pages(ctx, q, func(items []table.Item) (bool, error) {
		delivered = slices.ContainsFunc(items, func(item table.Item) bool { return deliveredSince(item, since) })
		return !delivered, nil
	})
	return delivered, err
}

// deliveredSince reports whether a record's item shows a delivery since then. An
// unreadable item does not.
func deliveredSince(item table.Item, since time.Time) bool {
	var at struct {
		Delivered *int64 `dynamodbav:"dt"`
	}
	err := table.Decode(item, &at)
	return err == nil && at.Delivered != nil && *at.Delivered >= since.UnixMilli()
}
