package deadletter

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/rethread/rethread/infra/ops/deployment"
	"github.com/rethread/rethread/shared/client/queue"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// shownBytes is how much is shown of what people may need to tell letters apart.
const shownBytes = 160

// opened is a letter whose kind is known.
type opened struct {
	what string
	// send sends it back; nil for what nobody knows.
	send func(context.Context) error
}

// open reads a message.
func (o *Office) open(queue string, m types.Message) opened {
	body := aws.ToString(m.Body)
	unknown := opened{what: fmt.Sprintf("%.*s", shownBytes, body)}
	if queue == Abandoned {
		return o.delivery(m, unknown)
	}
	var w delivery.Wake
	if json.Unmarshal([]byte(body), &w) == nil && wakesOf()[w.Kind] != "" {
		return opened{
			what: fmt.Sprintf("turn %d of what waits for a target of kind %s (%s)", w.Turn, w.Kind, w.Group),
			send: func(ctx context.Context) error { return o.sendWake(ctx, w.Kind, body) },
		}
	}
	var f failure
	if json.Unmarshal([]byte(body), &f) != nil {
		return unknown
	}
	name, ok := o.function(f.Context.FunctionARN)
	switch {
	case !ok:
		return unknown
	case f.Batch != nil:
		return opened{
			what: fmt.Sprintf("%s: %d records of its stream, from %s on; %s", name.logical, f.Batch.Size, f.Batch.FirstArrival, f.Context),
			send: func(ctx context.Context) error { return o.sendRecords(ctx, name, *f.Batch) },
		}
	case f.Payload != nil:
		return opened{
			what: fmt.Sprintf("%s: %.*s; %s", name.logical, shownBytes, f.Payload, f.Context),
			send: func(ctx context.Context) error { return o.sendJob(ctx, name.physical, f.Payload) },
		}
	default:
		return unknown
	}
}

// failure is what Lambda tells of an asynchronous invocation ("Retaining records
// of asynchronous invocations") or of a batch of a stream ("Retain discarded
// records for a DynamoDB event source") that it has given up.
type failure struct {
	Context failedContext   `json:"requestContext"`
	Payload json.RawMessage `json:"requestPayload"`
	Batch   *batch          `json:"DDBStreamBatchInfo"`
}

type failedContext struct {
	FunctionARN string `json:"functionArn"`
	Condition   string `json:"condition"`
	Invoked     int    `json:"approximateInvokeCount"`
}

// String says how it was given up.
func (c failedContext) String() string {
	return fmt.Sprintf("%s after %d tries", c.Condition, c.Invoked)
}

// names of a function.
type names struct{ logical, physical string }

// function finds one of the stack's by its ARN, with or without a version.
func (o *Office) function(arn string) (names, bool) {
	_, name, _ := strings.Cut(arn, ":function:")
	name, _, _ = strings.Cut(name, ":")
	logical, ok := o.LogicalID(deployment.Function, name)
	return names{logical, name}, ok
}

// delivery reads a message of the queue of abandoned deliveries: one that the
// function gave up, with the reason, or one that SQS moved there as it was.
func (o *Office) delivery(m types.Message, unknown opened) opened {
	body := []byte(aws.ToString(m.Body))
	var wrapped queue.Abandoned
	how := "SQS has moved it"
	if json.Unmarshal(body, &wrapped) == nil && len(wrapped.Body) > 0 {
		body, how = wrapped.Body, fmt.Sprintf("%s, after %d tries", wrapped.Reason, wrapped.Tries)
	}
	var d delivery.Delivery
	if json.Unmarshal(body, &d) != nil || d.Event.ID == "" || deliveriesOf()[d.Target.Kind] == "" {
		return unknown
	}
	return opened{
		what: fmt.Sprintf("%s (%s) to %s %s; %s", d.Event.Type, d.Event.ID, d.Target.Kind, d.Target.Name, how),
		send: func(ctx context.Context) error { return o.sendDelivery(ctx, m, d.Target.Kind, string(body)) },
	}
}

// sendDelivery queues a delivery as it was, in its group, from now on. Its
// deduplication id is the letter's: that of the delivery itself may have been seen
// within the last 5 minutes, and the letter may be sent again after a crash.
func (o *Office) sendDelivery(ctx context.Context, m types.Message, kind delivery.Kind, body string) error {
	url, err := o.url(deliveriesOf()[kind])
	if err != nil {
		return err
	}
	group := m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
	_, err = o.Services.SQS.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: &body, MessageGroupId: &group, MessageDeduplicationId: m.MessageId,
	})
	return err
}

// sendWake has a lane's turn come again.
func (o *Office) sendWake(ctx context.Context, kind delivery.Kind, body string) error {
	url, err := o.url(wakesOf()[kind])
	if err != nil {
		return err
	}
	_, err = o.Services.SQS.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
	return err
}

// sendJob hands a job to its function again, which starts its tries anew.
func (o *Office) sendJob(ctx context.Context, function string, payload []byte) error {
	_, err := o.Services.Lambda.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: &function, InvocationType: lambdatypes.InvocationTypeEvent, Payload: payload,
	})
	return err
}
