// Command deliverer sends a message to the queue Done for each message it
// receives, except those that must fail.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

type deliverer struct{ client *sqs.Client }

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		panic(err)
	}
	lambda.Start(deliverer{sqs.NewFromConfig(cfg)}.handle)
}

// handle keeps the order: it reports all messages of a group after a failed one.
func (d deliverer) handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	var response events.SQSEventResponse
	failed := map[string]bool{}
	for _, message := range event.Records {
		group := message.Attributes["MessageGroupId"]
		if !failed[group] {
			ok, err := d.deliver(ctx, message)
			if err != nil {
				return response, err
			}
			failed[group] = !ok
		}
		if !failed[group] {
			continue
		}
		response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: message.MessageId})
		if _, err := d.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: aws.String(os.Getenv("DELIVERIES_URL")), ReceiptHandle: aws.String(message.ReceiptHandle), VisibilityTimeout: 0,
		}); err != nil {
			return response, err
		}
	}
	return response, nil
}

func (d deliverer) deliver(ctx context.Context, message events.SQSMessage) (bool, error) {
	count := message.Attributes["ApproximateReceiveCount"]
	switch {
	case strings.HasPrefix(message.Body, "once") && count == "1", strings.HasPrefix(message.Body, "poison"):
		return false, nil
	case strings.HasPrefix(message.Body, "die") && count == "1":
		os.Exit(1)
	}
	_, err := d.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:    aws.String(os.Getenv("DONE_URL")),
		MessageBody: aws.String(fmt.Sprintf("%s %s %s", message.Body, count, os.Getenv("OUTBOUND_ALLOW_LOOPBACK"))),
	})
	return err == nil, err
}
