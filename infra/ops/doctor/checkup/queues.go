package checkup

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/rethread/rethread/infra/ops/deployment"
)

// backlog is the number of waiting messages above which the function appears not
// to keep up.
const backlog = 1000

// QueueAttributes is the part of SQS that Queues uses.
type QueueAttributes interface {
	GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput, opts ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// Queues checks the backlogs. A queue without a function holds abandoned work, and
// should be empty.
func Queues(
	ctx context.Context, d *deployment.Deployment, client QueueAttributes, feeds lambda.ListEventSourceMappingsAPIClient,
) []Finding {
	mine, err := mappings(ctx, d, feeds)
	if err != nil {
		return requestFailed("queues", "lambda:ListEventSourceMappings", err)
	}
	feeding := map[string]bool{}
	for _, m := range mine {
		feeding[aws.ToString(m.EventSourceArn)] = true
	}
	var out []Finding
	for _, id := range d.Resources(deployment.Queue) {
		url := d.Resource(deployment.Queue, id)
		answer, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
		})
		if err != nil {
			out = append(out, requestFailed("queue "+id, "sqs:GetQueueAttributes", err)...)
			continue
		}
		out = append(out, queue(id, answer.Attributes, feeding[answer.Attributes[string(types.QueueAttributeNameQueueArn)]]))
	}
	return out
}

func queue(id string, attributes map[string]string, feeds bool) Finding {
	f := Finding{Name: "queue " + id, Status: OK}
	n := 0
	for _, name := range []types.QueueAttributeName{
		types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
	} {
		if count, err := strconv.Atoi(attributes[string(name)]); err == nil {
			n += count
		}
	}
	switch {
	case n == 0:
		f.Detail = "empty"
	case !feeds:
		f.Status, f.Detail = Warn, fmt.Sprintf("about %d abandoned", n)
		f.Advice = "make redrive DRY=1 lists them, make redrive sends them back"
	case n > backlog:
		f.Status, f.Detail = Warn, fmt.Sprintf("about %d waiting", n)
		f.Advice = "the function cannot keep up, or the receivers are down: see its log"
	default:
		f.Detail = fmt.Sprintf("about %d waiting", n)
	}
	return f
}
