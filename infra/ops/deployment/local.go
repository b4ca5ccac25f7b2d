package deployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/rethread/rethread/infra/local/stackinfo"
	"github.com/rethread/rethread/infra/local/table"
)

// answerTime is how long a system may take to describe itself.
const answerTime = 10 * time.Second

// findLocal asks the system at an address to describe itself. Only local systems
// do; of others, only the address is known.
func findLocal(ctx context.Context, at Location) (*Deployment, error) {
	stack, err := describe(ctx, at.URL)
	if errors.Is(err, errNotDescribed) {
		return &Deployment{
			Name: at.URL, Outputs: map[string]string{"ApiUrl": at.URL, "WebSocketUrl": at.Sockets},
		}, nil
	}
	if err != nil {
		return nil, err
	}
	d := &Deployment{
		Name: "this machine, " + at.URL, Local: true, Outputs: stack.Outputs, Parameters: stack.Parameters,
		Services: localServices(stack.Endpoints),
	}
	for _, r := range stack.Resources {
		d.Add(r.Type, r.LogicalID, r.PhysicalID)
	}
	return d, nil
}

// errNotDescribed means that the system answers, but does not describe itself.
var errNotDescribed = errors.New("the system does not describe itself")

func describe(ctx context.Context, url string) (stack stackinfo.Stack, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/dev/stack", http.NoBody)
	if err != nil {
		return stack, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return stack, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	defer res.Body.Close() //nolint:errcheck // read as far as needed
	if res.StatusCode != http.StatusOK || json.NewDecoder(res.Body).Decode(&stack) != nil || stack.Resources == nil {
		return stack, errNotDescribed
	}
	return stack, nil
}

// localServices are clients of a local system, which accepts any credentials.
func localServices(at stackinfo.Endpoints) *Services {
	settings := aws.Config{Region: table.Region, Credentials: table.Credentials(at.DynamoDBKey)}
	return &Services{
		DynamoDB: dynamodb.NewFromConfig(settings, func(o *dynamodb.Options) {
			o.BaseEndpoint = &at.DynamoDB
			o.DisableValidateResponseChecksum = true // the engine's error responses fail it
		}),
		Streams: dynamodbstreams.NewFromConfig(settings, func(o *dynamodbstreams.Options) { o.BaseEndpoint = &at.DynamoDB }),
		Lambda:  lambda.NewFromConfig(settings, func(o *lambda.Options) { o.BaseEndpoint = &at.Lambda }),
		SQS:     sqs.NewFromConfig(settings, func(o *sqs.Options) { o.BaseEndpoint = &at.SQS }),
	}
}
