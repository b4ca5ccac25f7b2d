// Package deadletter empties the queues where things end that were given up: it
// says what lies there and sends it back. A delivery is queued anew, a job of a
// function is handed to it again, and of records of a stream, of which Lambda
// keeps the place only, the records are read and the function is invoked with
// them.
package deadletter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/rethread/rethread/infra/ops/deployment"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/push"
	"github.com/rethread/rethread/shared/domain/webhook"
)

// The queues that are emptied, by their logical ids.
const (
	Abandoned = "Abandoned" // deliveries that were tried for a day
	Failures  = "Failures"  // jobs and records that a function failed at, and wakes
)

// deliveriesOf are the queues that deliveries go back to, by their kind.
func deliveriesOf() map[delivery.Kind]string {
	return map[delivery.Kind]string{webhook.Kind: "Deliveries", push.Kind: "Pushes", automation.Kind: "Triggers"}
}

// wakesOf are those that wakes go back to.
func wakesOf() map[delivery.Kind]string {
	return map[delivery.Kind]string{webhook.Kind: "DeliveryRetries", push.Kind: "Retries", automation.Kind: "Retries"}
}

const (
	mostReceived = 10 // messages in an answer of SQS
	// hidden is how long a letter is kept from being received again, unless the run
	// ends before. It is less than the 5 minutes in which SQS takes the same message
	// once, for a run that breaks off between sending a letter and deleting it.
	hidden = 4 * time.Minute
	// showTime is how long the letters that stay may take to be shown again.
	showTime = 30 * time.Second
)

// Outcome is what became of a letter.
type Outcome string

// The outcomes.
const (
	Sent Outcome = "sent" // back, and deleted here
	Left Outcome = "left" // it is here still, as it failed again or nobody can tell what it is
	Gone Outcome = "gone" // what it refers to is no more; deleted only if that was asked for
	Seen Outcome = "seen" // a dry run would send it back
)

// Letter is what was found, and what became of it.
type Letter struct {
	Queue   string
	What    string // in words
	Outcome Outcome
	Reason  string // of Left and Gone
}

// Office empties queues.
type Office struct {
	*deployment.Deployment

	// Dry looks only.
	Dry bool
	// DropGone deletes what can never be sent back.
	DropGone bool
	// Report is told of each letter.
	Report func(Letter)
}

var (
	// errGone says that what a letter refers to is no more.
	errGone = errors.New("gone")
	// errAgain says that it was tried, and failed as before.
	errAgain = errors.New("it failed again")
	// errUnknown says that a letter is none that could be sent back.
	errUnknown = errors.New("it is nothing that could be sent back")
	// errNoQueue says that the stack has no such queue.
	errNoQueue = errors.New("the stack has no such queue")
)

// Count is about how many letters lie in a queue.
func (o *Office) Count(ctx context.Context, queue string) (string, error) {
	url, err := o.url(queue)
	if err != nil {
		return "", err
	}
	const name = types.QueueAttributeNameApproximateNumberOfMessages
	out, err := o.Services.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{name},
	})
	if err != nil {
		return "", fmt.Errorf("count what lies in %s: %w", queue, err)
	}
	return out.Attributes[string(name)], nil
}

// Empty sends back what lies in a queue, in order, until nothing is left that can
// go. It may be repeated at any time: what was sent and not yet deleted when a run
// broke off is sent again, which receivers and functions bear.
func (o *Office) Empty(ctx context.Context, queue string) (err error) {
	url, err := o.url(queue)
	if err != nil {
		return err
	}
	kept := map[string]string{} // receipts of what stays, by message
	defer func() { err = errors.Join(err, o.show(ctx, url, kept)) }()
	for began := (time.Time{}); ; {
		out, err := o.Services.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: mostReceived, VisibilityTimeout: int32(hidden.Seconds()), WaitTimeSeconds: 1,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", queue, err)
		}
		if began.IsZero() {
			began = answered(out.ResultMetadata)
		}
		if len(out.Messages) == 0 {
			return nil
		}
		if err := o.handleAll(ctx, queue, url, out.Messages, began, kept); err != nil {
			return err
		}
	}
}

// answered is the time of an answer: by this machine's clock or, where that is off,
// by SQS's own, which is told in whole seconds.
func answered(metadata middleware.Metadata) time.Time {
	now := time.Now()
	there, ok := awsmiddleware.GetServerTime(metadata)
	if !ok || there.Sub(now).Abs() < 2*time.Second {
		return now
	}
	return there.Add(time.Second)
}

// handleAll does what is to be done with letters that were not seen before. Those
// that came after the run began are left: they may be what it has sent back, and
// failed again.
func (o *Office) handleAll(
	ctx context.Context, queue, url string, messages []types.Message, began time.Time, kept map[string]string,
) error {
	for _, m := range messages {
		id := aws.ToString(m.MessageId)
		_, again := kept[id]
		kept[id] = aws.ToString(m.ReceiptHandle) // the newest one counts
		if again || sent(m).After(began) {
			continue
		}
		deleted, err := o.handle(ctx, queue, url, m)
		if err != nil {
			return err
		}
		if deleted {
			delete(kept, id)
		}
	}
	return nil
}

// sent is when a message was put into its queue.
func sent(m types.Message) time.Time {
	millis, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}

// handle does what is to be done with one letter, and reports it. An error is one
// of the moment, after which nothing behind the letter may go before it.
func (o *Office) handle(ctx context.Context, queue, url string, m types.Message) (deleted bool, err error) {
	found := o.open(queue, m)
	letter := Letter{Queue: queue, What: found.what, Outcome: Seen}
	if !o.Dry || found.send == nil {
		letter.Outcome, letter.Reason, err = o.send(ctx, found)
	}
	if err != nil {
		return false, fmt.Errorf("send back %s: %w", found.what, err)
	}
	deleted = letter.Outcome == Sent || letter.Outcome == Gone && o.DropGone
	if deleted {
		_, err = o.Services.SQS.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle})
		if err != nil {
			return false, fmt.Errorf("delete %s, which was sent back: %w", found.what, err)
		}
	}
	o.Report(letter)
	return deleted, nil
}

func (o *Office) send(ctx context.Context, l opened) (Outcome, string, error) {
	if l.send == nil {
		return Left, errUnknown.Error(), nil
	}
	switch err := l.send(ctx); {
	case err == nil:
		return Sent, "", nil
	case errors.Is(err, errGone):
		return Gone, err.Error(), nil
	case errors.Is(err, errAgain), errors.Is(err, errUnknown):
		return Left, err.Error(), nil
	default:
		return "", "", err
	}
}

// show lets others see what stays, also where the run was broken off.
func (o *Office) show(ctx context.Context, url string, kept map[string]string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), showTime)
	defer cancel()
	var errs []error
	for _, receipt := range kept {
		_, err := o.Services.SQS.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: &url, ReceiptHandle: &receipt, VisibilityTimeout: 0,
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("show a letter that stays, which else is hidden for %s: %w", hidden, err))
		}
	}
	return errors.Join(errs...)
}

func (o *Office) url(queue string) (string, error) {
	url := o.Resource(deployment.Queue, queue)
	if url == "" {
		return "", fmt.Errorf("%w: %s", errNoQueue, queue)
	}
	return url, nil
}
