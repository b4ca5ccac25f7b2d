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
	"github.com/rethread/rethread/shared/domain/delivery"
)

// shownBytes limits the part of a letter that is shown to tell letters apart.
const shownBytes = 160

// identified is a letter whose kind is known.
type identified struct {
	what string
	// send sends the letter back; nil for an unknown kind.
	send func(context.Context) error
}

// identify reads a message.
func (o *Redriver) identify(queue string, m types.Message) identified {
	body := aws.ToString(m.Body)
	unknown := identified{what: fmt.Sprintf("%.*s", shownBytes, body)}
	if queue == Abandoned {
		return o.delivery(m, unknown)
	}
	var w delivery.Wake
	if json.Unmarshal([]byte(body), &w) == nil && wakesOf()[w.Kind] != "" {
		return identified{
			what: fmt.Sprintf("turn %d of what waits for a target of kind %s (%s)", w.Pass, w.Kind, w.Group),
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
		return identified{
			what: fmt.Sprintf("%s: %d records of its stream, from %s on; %s", name.logical, f.Batch.Size, f.Batch.FirstArrival, f.Context),
			send: func(ctx context.Context) error { return o.sendRecords(ctx, name, *f.Batch) },
		}
	case f.Payload != nil:
		return identified{
			what: fmt.Sprintf("%s: %.*s; %s", name.logical, shownBytes, f.Payload, f.Context),
			send: func(ctx context.Context) error { return o.sendJob(ctx, name.physical, f.Payload) },
		}
	default:
		return unknown
	}
}

// failure is Lambda's record of an abandoned asynchronous invocation ("Retaining
// records of asynchronous invocations") or batch of a stream ("Retain discarded
// records for a DynamoDB event source").
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

// String describes why it was abandoned.
func (c failedContext) String() string {
	return fmt.Sprintf("%s after %d tries", c.Condition, c.Invoked)
}

// names of a function.
type names struct{ logical, physical string }

// function finds one of the stack's functions by its ARN, with or without a
// version.
func (o *Redriver) function(arn string) (names, bool) {
	_, name, _ := strings.Cut(arn, ":function:")
	name, _, _ = strings.Cut(name, ":")
	logical, ok := o.LogicalID(deployment.Function, name)
	return names{logical, name}, ok
}

// delivery reads a message of the queue of abandoned deliveries: one that the
// function abandoned, with the reason, or one that SQS moved there unchanged.
func (o *Redriver) delivery(m types.Message, unknown identified) identified {
	body := []byte(aws.ToString(m.Body))
	var wrapped delivery.GivenUp
	how := "moved by SQS"
	if json.Unmarshal(body, &wrapped) == nil && len(wrapped.Body) > 0 {
		body, how = wrapped.Body, fmt.Sprintf("%s, after %d tries", wrapped.Reason, wrapped.Tries)
	}
	var d delivery.Delivery
	if json.Unmarshal(body, &d) != nil || d.Event.ID == "" || deliveriesOf()[d.Target.Kind] == "" {
		return unknown
	}
	return identified{
		what: fmt.Sprintf("%s (%s) to %s %s; %s", d.Event.Type, d.Event.ID, d.Target.Kind, d.Target.Name, how),
		send: func(ctx context.Context) error { return o.sendDelivery(ctx, m, d.Target.Kind, string(body)) },
	}
}

// sendDelivery queues a delivery unchanged, in its group, as if it were new. Its
// deduplication id is the letter's: the delivery's own may have been used within
// the last 5 minutes, and the letter may be sent again after a crash.
func (o *Redriver) sendDelivery(ctx context.Context, m types.Message, kind delivery.Kind, body string) error {
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

// sendWake queues a lane's turn again.
func (o *Redriver) sendWake(ctx context.Context, kind delivery.Kind, body string) error {
	url, err := o.url(wakesOf()[kind])
	if err != nil {
		return err
	}
	_, err = o.Services.SQS.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
	return err
}

// sendJob sends a job to its function again, with new attempts.
func (o *Redriver) sendJob(ctx context.Context, function string, payload []byte) error {
	_, err := o.Services.Lambda.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: &function, InvocationType: lambdatypes.InvocationTypeEvent, Payload: payload,
	})
	return err
}
