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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/webhook"
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
	}, condition{})
	if err != nil {
		return webhook.Record{}, err
	}
	return s.Record(ctx, userID, id, webhook.DeliveryID(d))
}

// NoteTry implements webhook.Targets.
func (s *Store) NoteTry(ctx context.Context, n webhook.Note) error {
	var c condition
	if n.Number == 0 {
		c.expression = "attribute_exists(PK)"
	}
	if err := s.noteRecord(ctx, n, c); !errors.Is(err, errTaken) {
		return err
	}
	return nil
}

// noteRecord makes or changes a record, by one write.
func (s *Store) noteRecord(ctx context.Context, n webhook.Note, c condition) error {
	userID, id, ok := webhook.ParseTarget(n.Delivery.Target)
	if !ok {
		return nil
	}
	event, err := jsonx.Marshal(n.Delivery.Event)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	c.names = map[string]string{"#e": "e", "#st": "st", "#n": "n", "#ct": "ct", "#nt": "nt", "#x": "expires"}
	c.values = attributes{
		":e": str(string(event)), ":st": str(string(n.State)), ":n": num(int64(n.Number)),
		":ct": num(n.Queued), ":nt": num(n.NextAttemptTime), ":x": num(s.now().Add(webhook.KeepRecords).Unix()),
	}
	set := "SET #e = :e, #st = :st, #ct = if_not_exists(#ct, :ct), #nt = :nt, #x = :x, "
	if n.Number == 0 {
		set += "#n = if_not_exists(#n, :n)"
	} else {
		attempt, err := attributevalue.Marshal(attemptItem(n.Attempt))
		if err != nil {
			return fmt.Errorf("marshal an attempt: %w", err)
		}
		set += "#n = :n, #a = :a"
		c.names["#a"], c.values[":a"] = attemptAttribute(n.Number%webhook.MaxAttempts), attempt
	}
	if n.State == webhook.Delivered {
		set += ", #dt = :dt"
		c.names["#dt"], c.values[":dt"] = "dt", num(n.Attempt.Time)
	}
	return s.update(ctx, webhookRecordKey(userID, id, webhook.DeliveryID(n.Delivery)), set, c)
}

// Record implements webhook.Store.
func (s *Store) Record(ctx context.Context, userID, id, deliveryID string) (webhook.Record, error) {
	var item recordItem
	found, err := s.get(ctx, webhookRecordKey(userID, id, deliveryID), &item)
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
	in := s.prefixQuery(webhookRecordsPK(q.UserID), webhookRecordPrefix(q.WebhookID), true)
	in.ScanIndexForward = ptr(false)
	if q.After != "" {
		in.KeyConditionExpression = aws.String("PK = :pk AND SK BETWEEN :prefix AND :after")
		in.ExpressionAttributeValues[":after"] = str(webhookRecordPrefix(q.WebhookID) + q.After)
	}
	var page webhook.RecordPage
	err := s.queryPages(ctx, in, func(items []attributes) (bool, error) {
		for _, item := range decodeItems[recordItem](ctx, s, items) {
			r, kept, err := s.recordOf(q.WebhookID, &item)
			if err != nil {
				s.leftOut(ctx, key{webhookRecordsPK(q.UserID), item.SK}, err)
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
	in := s.prefixQuery(webhookRecordsPK(userID), webhookRecordPrefix(id), true)
	in.ScanIndexForward = ptr(false)
	in.FilterExpression = aws.String("#dt >= :since")
	in.ExpressionAttributeNames = map[string]string{"#dt": "dt"}
	in.ExpressionAttributeValues[":since"] = num(since.UnixMilli())
	delivered := false
	err := s.queryPages(ctx, in, func(items []attributes) (bool, error) {
		delivered = delivered || len(items) > 0
		return !delivered, nil
	})
	return delivered, err
}

// recordOf reads an item; kept is false for one whose time is over, which
// DynamoDB may keep for days.
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
