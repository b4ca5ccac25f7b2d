// Package sqsqueue keeps deliveries in FIFO queues of Amazon SQS.
package sqsqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/rethread/rethread/shared/delivery"
)

// mostHidden is the longest that SQS hides a message.
const mostHidden = 12 * time.Hour

var _ delivery.Queue = (*Queue)(nil)

// Queue is the queue of deliveries, and the one for those that were given up.
type Queue struct {
	client  *sqs.Client
	url     string
	givenUp string
}

// New is the queue at a URL; givenUp is the URL of the other, which only GiveUp
// needs.
func New(client *sqs.Client, url, givenUp string) *Queue {
	return &Queue{client: client, url: url, givenUp: givenUp}
}

// Put implements delivery.Queue. SQS takes the same delivery once in 5 minutes.
func (q *Queue) Put(ctx context.Context, d delivery.Delivery) error {
	if err := q.send(ctx, q.url, d, d.Target.Group(), d.QueueID()); err != nil {
		return fmt.Errorf("queue delivery %s: %w", d.ID(), err)
	}
	return nil
}

// Hide makes a message that was received, and those of its group behind it, wait
// for as long, in whole seconds.
func (q *Queue) Hide(ctx context.Context, receipt string, wait time.Duration) error {
	seconds := int32((min(wait, mostHidden) + time.Second - 1) / time.Second) //nolint:gosec // 43200 at most
	_, err := q.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: &receipt, VisibilityTimeout: seconds,
	})
	if err != nil {
		return fmt.Errorf("hide a message: %w", err)
	}
	return nil
}

// Abandoned is a message that was given up, as the other queue has it.
type Abandoned struct {
	Reason string          `json:"reason"`
	Tries  int             `json:"tries"`
	Body   json.RawMessage `json:"body"` // a JSON value: what was to be delivered
}

// GiveUp puts a message aside, for people to look at. ID tells it from others.
func (q *Queue) GiveUp(ctx context.Context, a Abandoned, group, id string) error {
	if err := q.send(ctx, q.givenUp, a, group, id); err != nil {
		return fmt.Errorf("put delivery %s aside: %w", id, err)
	}
	return nil
}

func (q *Queue) send(ctx context.Context, url string, body any, group, id string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	_, err = q.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String(string(text)), MessageGroupId: &group, MessageDeduplicationId: &id,
	})
	return err
}
