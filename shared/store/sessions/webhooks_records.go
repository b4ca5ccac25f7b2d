package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/webhook"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// recordItem is what became of a delivery to a webhook. Its attempts are the
// attributes a0 to a9, a ring: one write adds one and overwrites the oldest.
type recordItem struct {
	SK        string `dynamodbav:"SK"`
	Event     string `dynamodbav:"e"` // JSON of a delivery.Event
	State     string `dynamodbav:"st"`
	Tries     int    `dynamodbav:"n"`
	Created   int64  `dynamodbav:"ct"`
	Next      int64  `dynamodbav:"nt"`
	Delivered int64  `dynamodbav:"dt"` // the last time that it was
	Expires   int64  `dynamodbav:"expires"`
	ring
}

const (
	recordEvent     = "e"
	recordState     = "st"
	recordTries     = "n"
	recordCreated   = "ct"
	recordNext      = "nt"
	recordDelivered = "dt"
	recordExpires   = "expires"
)

type ring struct {
	A0 *attemptItem `dynamodbav:"a0"`
	A1 *attemptItem `dynamodbav:"a1"`
	A2 *attemptItem `dynamodbav:"a2"`
	A3 *attemptItem `dynamodbav:"a3"`
	A4 *attemptItem `dynamodbav:"a4"`
	A5 *attemptItem `dynamodbav:"a5"`
	A6 *attemptItem `dynamodbav:"a6"`
	A7 *attemptItem `dynamodbav:"a7"`
	A8 *attemptItem `dynamodbav:"a8"`
	A9 *attemptItem `dynamodbav:"a9"`
}

type attemptItem struct {
	Time     int64  `dynamodbav:"t"`
	Duration int64  `dynamodbav:"d"`
	Status   int    `dynamodbav:"s,omitempty"`
	Reason   string `dynamodbav:"r,omitempty"`
}

func attemptAttribute(slot int) string { return "a" + strconv.Itoa(slot) }

// NoteQueued implements webhook.Store.
func (s *Store) NoteQueued(ctx context.Context, d delivery.Delivery) (webhook.Record, error) {
	userID, id, ok := webhook.ParseTarget(d.Target)
	if !ok {
		return webhook.Record{}, missingWebhook()
	}
	err := s.noteRecord(ctx, webhook.Note{
		Delivery: d, Queued: s.millis(), State: webhook.Pending, NextAttemptTime: s.millis(),
	})
	if err != nil {
		return webhook.Record{}, err
	}
	return s.Record(ctx, userID, id, webhook.DeliveryID(d))
}

// NoteTry implements webhook.Targets.
func (s *Store) NoteTry(ctx context.Context, n webhook.Note) error {
	var conditions []table.Condition
	if n.Number == 0 {
		conditions = append(conditions, table.ItemExists())
	}
	if err := s.noteRecord(ctx, n, conditions...); !errors.Is(err, table.ErrConditionFailed) {
		return err
	}
	return nil
}

// noteRecord makes or changes a record, by one write.
func (s *Store) noteRecord(ctx context.Context, n webhook.Note, conditions ...table.Condition) error {
	userID, id, ok := webhook.ParseTarget(n.Delivery.Target)
	if !ok {
		return nil
	}
	event, err := jsonx.Marshal(n.Delivery.Event)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	changes := append(noteChanges(n),
		table.Set(table.At(recordEvent), string(event)),
		table.Set(table.At(recordExpires), s.now().Add(webhook.KeepRecords).Unix()))
	return s.db.Update(ctx, webhookRecordKey(userID, id, webhook.DeliveryID(n.Delivery)), changes, conditions...)
}

// noteChanges are the changes of a record by what a note says of its delivery.
func noteChanges(n webhook.Note) []table.Change {
	changes := []table.Change{
		table.Set(table.At(recordState), string(n.State)),
		table.SetIfAbsent(table.At(recordCreated), n.Queued),
		table.Set(table.At(recordNext), n.NextAttemptTime),
	}
	if n.Number == 0 {
		changes = append(changes, table.SetIfAbsent(table.At(recordTries), n.Number))
	} else {
		changes = append(changes, table.Set(table.At(recordTries), n.Number),
			table.Set(table.At(attemptAttribute(n.Number%webhook.MaxAttempts)), attemptItem(n.Attempt)))
	}
	if n.State == webhook.Delivered {
		changes = append(changes, table.Set(table.At(recordDelivered), n.Attempt.Time))
	}
	return changes
}

// Record implements webhook.Store.
func (s *Store) Record(ctx context.Context, userID, id, deliveryID string) (webhook.Record, error) {
	var item recordItem
	found, err := s.db.Get(ctx, webhookRecordKey(userID, id, deliveryID), &item)
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
	in := records.Prefix(webhookRecordsPK(q.UserID), webhookRecordPrefix(q.WebhookID), true)
	in.Descending = true
	if q.After != "" {
		in.To = webhookRecordPrefix(q.WebhookID) + q.After
	}
	var page webhook.RecordPage
	err := s.db.Pages(ctx, in, func(items []table.Item) (bool, error) {
		for _, item := range decodeItems[recordItem](ctx, s, items) {
			r, kept, err := s.recordOf(q.WebhookID, &item)
			if err != nil {
				s.leftOut(ctx, table.NewKey(webhookRecordsPK(q.UserID), item.SK), err)
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
// as one that was delivered is mostly among them.
func (s *Store) DeliveredSince(ctx context.Context, userID, id string, since time.Time) (bool, error) {
	q := records.Prefix(webhookRecordsPK(userID), webhookRecordPrefix(id), true)
	q.Descending, q.Members = true, []string{recordDelivered}
	delivered := false
	err := s.db.Pages(ctx, q, func(items []table.Item) (bool, error) {
		delivered = slices.ContainsFunc(items, func(item table.Item) bool { return deliveredSince(item, since) })
		return !delivered, nil
	})
	return delivered, err
}

// deliveredSince says whether the item of a record says so. One that cannot be read
// does not.
func deliveredSince(item table.Item, since time.Time) bool {
	var at struct {
		Delivered *int64 `dynamodbav:"dt"`
	}
	err := table.Decode(item, &at)
	return err == nil && at.Delivered != nil && *at.Delivered >= since.UnixMilli()
}

// recordOf reads an item; kept is false for one whose time is over, which
// the table may keep for days.
func (s *Store) recordOf(webhookID string, item *recordItem) (r webhook.Record, kept bool, err error) {
	if item.Expires <= s.now().Unix() {
		return webhook.Record{}, false, nil
	}
	r = webhook.Record{
		ID: strings.TrimPrefix(item.SK, webhookRecordPrefix(webhookID)), WebhookID: webhookID, State: webhook.State(item.State),
		Tries: item.Tries, Attempts: item.attempts(), CreatedTime: item.Created, NextAttemptTime: item.Next,
	}
	if err := json.Unmarshal([]byte(item.Event), &r.Event); err != nil {
		return webhook.Record{}, false, fmt.Errorf("decode the event of a delivery: %w", err)
	}
	return r, true, nil
}

// attempts are those of a ring, oldest first.
func (r *ring) attempts() []webhook.Attempt {
	var out []webhook.Attempt
	for _, a := range []*attemptItem{r.A0, r.A1, r.A2, r.A3, r.A4, r.A5, r.A6, r.A7, r.A8, r.A9} {
		if a != nil {
			out = append(out, webhook.Attempt(*a))
		}
	}
	slices.SortStableFunc(out, func(a, b webhook.Attempt) int { return cmp.Compare(a.Time, b.Time) })
	return out
}
