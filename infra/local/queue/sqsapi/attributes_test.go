package sqsapi_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

func TestQueueAttributes(t *testing.T) {
	client, _ := mustServe(t)
	for _, delay := range []int32{0, 0, 900} {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(standardURL), MessageBody: aws.String("body"), DelaySeconds: delay,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(standardURL), MaxNumberOfMessages: 1, VisibilityTimeout: 60,
	}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		asked []types.QueueAttributeName
		want  map[string]string
	}{
		"all": {[]types.QueueAttributeName{types.QueueAttributeNameAll}, map[string]string{
			"QueueArn": "arn:q", "ApproximateNumberOfMessages": "1",
			"ApproximateNumberOfMessagesNotVisible": "1", "ApproximateNumberOfMessagesDelayed": "1",
		}},
		"one":  {[]types.QueueAttributeName{types.QueueAttributeNameQueueArn}, map[string]string{"QueueArn": "arn:q"}},
		"none": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
				QueueUrl: aws.String(standardURL), AttributeNames: test.asked,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.Attributes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
