// Package deadletter empties the dead letter queues: it lists the letters and
// sends them back. A delivery is queued again, a job is sent to its function
// again. For records of a stream, of which Lambda only keeps the position, the
// records are read and the function is invoked with them.
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
	"github.com/rethread/rethread/shared/domain/receiver"
)

// The logical ids of the dead letter queues.
const (
	Abandoned = "Abandoned" // deliveries that failed for a day
	Failures  = "Failures"  // jobs, records and wakes that a function failed to process
)

// deliveriesOf maps each kind of delivery to its queue.
func deliveriesOf() map[delivery.Kind]string {
	return map[delivery.Kind]string{receiver.WebhookKind: "Deliveries", receiver.PushKind: "Pushes", automation.Kind: "Triggers"}
}

// wakesOf maps each kind of wake to its queue.
func wakesOf() map[delivery.Kind]string {
	return map[delivery.Kind]string{receiver.WebhookKind: "DeliveryRetries", receiver.PushKind: "Retries", automation.Kind: "Retries"}
}

const (
	maxReceived = 10 // messages in an answer of SQS
	// visibilityTimeout is the visibility timeout of a received letter, unless the run ends
	// before. It is less than the 5 minutes of SQS's deduplication, for a run that
	// ends between sending a letter and deleting it.
	visibilityTimeout = 4 * time.Minute
	// makeVisibleTime limits making the remaining letters visible again.
	makeVisibleTime = 30 * time.Second
)

// Outcome is the result for a letter.
type Outcome string

// The outcomes.
const (
	Sent Outcome = "sent" // sent back, and deleted here
	Left Outcome = "left" // kept, because it failed again or is of an unknown kind
	Gone Outcome = "gone" // what it refers to no longer exists; deleted only if requested
	Seen Outcome = "seen" // a dry run would send it back
)

// Letter is a dead letter and its outcome.
type Letter struct {
	Queue   string
	What    string // description
	Outcome Outcome
	Reason  string // for Left and Gone
}

// Redriver empties queues.
type Redriver struct {
	*deployment.Deployment

	// DryRun only lists the letters.
	DryRun bool
	// DropGone deletes letters that can never be sent back.
	DropGone bool
	// Report is called for each letter.
	Report func(Letter)
}

var (
	// errGone means that what a letter refers to no longer exists.
	errGone = errors.New("gone")
	// errAgain means that the letter was sent back and failed as before.
	errAgain = errors.New("it failed again")
	// errUnknown means that a letter is of a kind that cannot be sent back.
	errUnknown = errors.New("it is of an unknown kind and cannot be sent back")
	// errNoQueue means that the stack has no such queue.
	errNoQueue = errors.New("the stack has no such queue")
)

// Count returns the approximate number of letters in a queue.
func (o *Redriver) Count(ctx context.Context, queue string) (string, error) {
	url, err := o.url(queue)
	if err != nil {
		return "", err
	}
	const name = types.QueueAttributeNameApproximateNumberOfMessages
	out, err := o.Services.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{name},
	})
	if err != nil {
		return "", fmt.Errorf("count the letters in %s: %w", queue, err)
	}
	return out.Attributes[string(name)], nil
}

// Empty sends back the letters of a queue, in order, until none is left that can
// be sent. It can be repeated at any time: a letter that was sent but not deleted
// because the run ended is sent again, which receivers and functions tolerate.
func (o *Redriver) Empty(ctx context.Context, queue string) (err error) {
	url, err := o.url(queue)
	if err != nil {
		return err
	}
	kept := map[string]string{} // latest receipts of the remaining letters, by message
	defer func() { err = errors.Join(err, o.makeVisible(ctx, url, kept)) }()
	for began := (time.Time{}); ; {
		out, err := o.Services.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: maxReceived, VisibilityTimeout: int32(visibilityTimeout.Seconds()), WaitTimeSeconds: 1,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", queue, err)
		}
		if began.IsZero() {
			began = answerTime(out.ResultMetadata)
		}
		if len(out.Messages) == 0 {
			return nil
		}
		if err := o.handleAll(ctx, queue, url, out.Messages, began, kept); err != nil {
			return err
		}
	}
}

// answerTime is the time of an answer, by the local clock or, if that is wrong, by
// SQS's, which has whole seconds.
func answerTime(metadata middleware.Metadata) time.Time {
	now := time.Now()
	there, ok := awsmiddleware.GetServerTime(metadata)
	if !ok || there.Sub(now).Abs() < 2*time.Second {
		return now
	}
	return there.Add(time.Second)
}

// handleAll handles letters that were not seen before. Letters that arrived after
// the run began are left: they may be ones that it has sent back and that failed
// again.
func (o *Redriver) handleAll(
	ctx context.Context, queue, url string, messages []types.Message, began time.Time, kept map[string]string,
) error {
	for _, m := range messages {
		id := aws.ToString(m.MessageId)
		_, again := kept[id]
		kept[id] = aws.ToString(m.ReceiptHandle) // only the latest receipt is valid
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

// sent is the time at which a message was sent to its queue.
func sent(m types.Message) time.Time {
	millis, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}

// handle handles one letter and reports the outcome. An error is temporary; later
// letters must not overtake this one.
func (o *Redriver) handle(ctx context.Context, queue, url string, m types.Message) (deleted bool, err error) {
	found := o.identify(queue, m)
	letter := Letter{Queue: queue, What: found.what, Outcome: Seen}
	if !o.DryRun || found.send == nil {
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

func (o *Redriver) send(ctx context.Context, l identified) (Outcome, string, error) {
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

// makeVisible makes the remaining letters visible, even if the run was interrupted.
func (o *Redriver) makeVisible(ctx context.Context, url string, kept map[string]string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeVisibleTime)
	defer cancel()
	var errs []error
	for _, receipt := range kept {
		_, err := o.Services.SQS.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: &url, ReceiptHandle: &receipt, VisibilityTimeout: 0,
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("make a remaining letter visible again; it stays hidden for up to %s: %w", visibilityTimeout, err))
		}
	}
	return errors.Join(errs...)
}

func (o *Redriver) url(queue string) (string, error) {
	url := o.Resource(deployment.Queue, queue)
	if url == "" {
		return "", fmt.Errorf("%w: %s", errNoQueue, queue)
	}
	return url, nil
}
