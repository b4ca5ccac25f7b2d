// Package queue hands deliveries over to queues of Amazon SQS, where they wait, and hides
// messages in them. It is apart from package outbound, so that only the functions which queue
// deliveries link the client of SQS.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/rethread/rethread/shared/domain/delivery"
)

const (
	// mostHidden is the maximum time for which SQS hides a message.
	mostHidden = 12 * time.Hour
	// mostDelayed is the maximum delay of a message in SQS.
	mostDelayed = 15 * time.Minute
)

var (
	_ delivery.Queue     = (*Queue)(nil)
	_ delivery.Waker     = (*Queue)(nil)
	_ delivery.Discarder = (*Queue)(nil)
)

// errNoQueue says that no queue is configured for a message.
var errNoQueue = errors.New("no queue is known")

// URLs are the queues' URLs; unused ones may be empty.
type URLs struct {
	// Deliveries and Wakes are by the kind of target; several kinds may share a
	// queue.
	Deliveries, Wakes map[delivery.Kind]string
	// Abandoned is the queue for abandoned deliveries.
	Abandoned string
}

// Queue puts deliveries into FIFO queues of Amazon SQS, one for each kind of target, and
// the wakes of lanes into queues with delays.
type Queue struct {
	client *sqs.Client
	urls   URLs
}

// New returns the queues with the given URLs.
func New(client *sqs.Client, urls URLs) *Queue { return &Queue{client: client, urls: urls} }

// Put implements delivery.Queue. SQS accepts the same delivery only once in 5
// minutes.
func (q *Queue) Put(ctx context.Context, d delivery.Delivery) error {
	if err := q.send(ctx, q.urls.Deliveries[d.Target.Kind], d, d.Target.Group(), d.QueueID()); err != nil {
		return fmt.Errorf("queue delivery %s: %w", d.ID(), err)
	}
	return nil
}

// Wake implements delivery.Waker. A wake after more than the maximum delay arrives
// early, and must be sent again.
func (q *Queue) Wake(ctx context.Context, w delivery.Wake, after time.Duration) error {
	url := q.urls.Wakes[w.Kind]
	if url == "" {
		return fmt.Errorf("wake lane %s of kind %s: %w", w.Group, w.Kind, errNoQueue)
	}
	text, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("encode a wake: %w", err)
	}
	_, err = q.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String(string(text)), DelaySeconds: seconds(after, mostDelayed),
	})
	if err != nil {
		return fmt.Errorf("wake lane %s: %w", w.Group, err)
	}
	return nil
}

// Hide hides a message that was received from the queue with the given ARN, and the
// later ones of its group, for that time in whole seconds.
func (q *Queue) Hide(ctx context.Context, arn, receipt string, wait time.Duration) error {
	url, err := q.url(arn)
	if err != nil {
		return err
	}
	_, err = q.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &url, ReceiptHandle: &receipt, VisibilityTimeout: seconds(wait, mostHidden),
	})
	if err != nil {
		return fmt.Errorf("hide a message: %w", err)
	}
	return nil
}

// url returns the URL of the queue with the given ARN: both end with its name.
func (q *Queue) url(arn string) (string, error) {
	name := arn[strings.LastIndex(arn, ":")+1:]
	for _, urls := range []map[delivery.Kind]string{q.urls.Deliveries, q.urls.Wakes} {
		for _, url := range urls {
			if url[strings.LastIndex(url, "/")+1:] == name {
				return url, nil
			}
		}
	}
	return "", fmt.Errorf("%w by the name %q", errNoQueue, name)
}

// seconds rounds up to whole seconds.
func seconds(d, most time.Duration) int32 {
	return int32((min(max(0, d), most) + time.Second - 1) / time.Second) //nolint:gosec // 43200 at most
}

// Discard implements delivery.Discarder.
func (q *Queue) Discard(ctx context.Context, d delivery.Delivery, reason string, tries int) error {
	body, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode a delivery: %w", err)
	}
	return q.GiveUp(ctx, delivery.GivenUp{Reason: reason, Tries: tries, Body: body}, d.Target.Group(), d.QueueID())
}

// GiveUp puts a message into the queue of abandoned deliveries, for an operator. id
// deduplicates it.
func (q *Queue) GiveUp(ctx context.Context, a delivery.GivenUp, group, id string) error {
	if err := q.send(ctx, q.urls.Abandoned, a, group, id); err != nil {
		return fmt.Errorf("abandon delivery %s: %w", id, err)
	}
	return nil
}

func (q *Queue) send(ctx context.Context, url string, body any, group, id string) error {
	if url == "" {
		return errNoQueue
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	_, err = q.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String(string(text)), MessageGroupId: &group, MessageDeduplicationId: &id,
	})
	return err
}
