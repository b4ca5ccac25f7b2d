package deliveries

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/domain/receiver"
)

// recordItem is the record of a delivery to a webhook. Its attempts are the
// attributes a0 to a9, a ring buffer: one write adds an attempt and overwrites the
// oldest.
type recordItem struct {
	SK        string `dynamodbav:"SK"`
	Event     string `dynamodbav:"e"` // JSON of a notification.Event
	State     string `dynamodbav:"st"`
	Tries     int    `dynamodbav:"n"`
	Created   int64  `dynamodbav:"ct"`
	Next      int64  `dynamodbav:"nt"`
	Delivered int64  `dynamodbav:"dt"` // the last time that it was delivered
	Expires   int64  `dynamodbav:"expires"`
	attemptRing
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

type attemptRing struct {
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

// recordOf decodes an item; kept is false for an expired record, which the table
// may keep for days.
func (s *Webhooks) recordOf(webhookID string, item *recordItem) (r receiver.Record, kept bool, err error) {
	if item.Expires <= s.base.Now().Unix() {
		return receiver.Record{}, false, nil
	}
	r = receiver.Record{
		ID: strings.TrimPrefix(item.SK, recordPrefix(webhookID)), WebhookID: webhookID, State: receiver.State(item.State),
		Tries: item.Tries, Attempts: item.attempts(), CreatedTime: item.Created, NextAttemptTime: item.Next,
	}
	if err := json.Unmarshal([]byte(item.Event), &r.Event); err != nil {
		return receiver.Record{}, false, fmt.Errorf("decode the event of a delivery: %w", err)
	}
	return r, true, nil
}

// attempts returns those of a ring, oldest first.
func (r *attemptRing) attempts() []receiver.Attempt {
	var out []receiver.Attempt
	for _, a := range []*attemptItem{r.A0, r.A1, r.A2, r.A3, r.A4, r.A5, r.A6, r.A7, r.A8, r.A9} {
		if a != nil {
			out = append(out, receiver.Attempt(*a))
		}
	}
	slices.SortStableFunc(out, func(a, b receiver.Attempt) int { return cmp.Compare(a.Time, b.Time) })
	return out
}
