package deliveries

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Record implements receiver.Webhooks.
func (s *Webhooks) Record(ctx context.Context, userID, id, deliveryID string) (receiver.Record, error) {
	var item recordItem
	found, err := s.base.DB.Get(ctx, recordKey(userID, id, deliveryID), &item)
	if err != nil {
		return receiver.Record{}, err
	}
	if found {
		r, kept, err := s.recordOf(id, &item)
		if kept || err != nil {
			return r, err
		}
	}
	return receiver.Record{}, fault.Missing("Delivery")
}

// Records implements receiver.Webhooks.
func (s *Webhooks) Records(ctx context.Context, q receiver.RecordQuery) (receiver.RecordPage, error) {
	in := records.Prefix(recordsPK(q.UserID), recordPrefix(q.WebhookID), true)
	in.Descending = true
	if q.After != "" {
		in.To = recordPrefix(q.WebhookID) + q.After
	}
	var page receiver.RecordPage
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
		return receiver.RecordPage{}, fmt.Errorf("list the deliveries of webhook %s: %w", q.WebhookID, err)
	}
	return page, nil
}

// DeliveredSince implements receiver.WebhookTargets. It reads the latest records first,
// since a delivered one is usually among them.
func (s *Webhooks) DeliveredSince(ctx context.Context, userID, id string, since time.Time) (bool, error) {
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
