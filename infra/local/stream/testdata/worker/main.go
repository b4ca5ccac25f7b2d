// Command worker processes jobs, except those that must fail, and sends a message
// to the queue Done for each.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

type job struct {
	Name string `json:"job"`
}

type worker struct{ client *sqs.Client }

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lambda.Start(worker{sqs.NewFromConfig(cfg)}.handle)
}

func (w worker) handle(ctx context.Context, j job) error {
	switch {
	case strings.HasPrefix(j.Name, "job/fail"):
		return fmt.Errorf("%s failed", j.Name)
	case strings.HasPrefix(j.Name, "job/die"):
		os.Exit(1)
	}
	_, err := w.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:    aws.String(os.Getenv("DONE_URL")),
		MessageBody: aws.String(fmt.Sprintf(`{"requestPayload": {"job": %q}}`, j.Name)), // the shape of destination records
	})
	return err
}
