// Command watcher passes each new job in a table to the worker.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lambda.Start(watcher{awslambda.NewFromConfig(cfg)}.handle)
}

type watcher struct{ client *awslambda.Client }

func (w watcher) handle(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	for _, record := range event.Records {
		if err := w.hand(ctx, record.Change.Keys["PK"].String()); err != nil {
			return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{ //nolint:nilerr // the response reports the failure
				{ItemIdentifier: record.Change.SequenceNumber},
			}}, nil
		}
	}
	return events.DynamoDBEventResponse{}, nil
}

func (w watcher) hand(ctx context.Context, job string) error {
	if strings.HasPrefix(job, "job/poison") {
		return fmt.Errorf("cannot hand %s over", job)
	}
	payload, err := json.Marshal(map[string]string{"job": job})
	if err != nil {
		return err
	}
	name := os.Getenv("WORKER")
	_, err = w.client.Invoke(ctx, &awslambda.InvokeInput{
		FunctionName: &name, InvocationType: types.InvocationTypeEvent, Payload: payload,
	})
	return err
}
