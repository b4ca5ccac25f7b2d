package lambda_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/rethread/rethread/infra/local/lambda"
)

// TestDescribe queries the host with the SDK's Lambda client.
func TestDescribe(t *testing.T) {
	host, err := lambda.Start(t.Context(), lambda.Options{
		Functions: []lambda.Definition{function("probe", 2*time.Second)}, Region: "us-east-1", Account: "1",
		Mappings: func(context.Context) ([]lambda.Mapping, error) {
			return []lambda.Mapping{
				{Function: "probe", SourceARN: "arn:stream", Filters: []string{`{"a": [1]}`}, Enabled: true},
				{Function: "other", SourceARN: "arn:queue"},
			}, nil
		},
		Output: io.Discard, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	api := client.New(client.Options{
		BaseEndpoint: aws.String(host.Endpoint()), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	t.Run("a built function is active", func(t *testing.T) {
		got, err := api.GetFunctionConfiguration(t.Context(), &client.GetFunctionConfigurationInput{FunctionName: aws.String("probe")})
		if err != nil || got.State != types.StateActive || got.LastUpdateStatus != types.LastUpdateStatusSuccessful ||
			aws.ToString(got.FunctionArn) != "arn:aws:lambda:us-east-1:1:function:probe" || aws.ToInt32(got.Timeout) != 2 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("returns an error for an unknown function", func(t *testing.T) {
		if got, err := api.GetFunctionConfiguration(t.Context(), &client.GetFunctionConfigurationInput{FunctionName: aws.String("none")}); err == nil {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("lists the event source mappings", func(t *testing.T) {
		got, err := api.ListEventSourceMappings(t.Context(), &client.ListEventSourceMappingsInput{})
		if err != nil || len(got.EventSourceMappings) != 2 || aws.ToString(got.EventSourceMappings[1].State) != "Disabled" {
			t.Fatalf("got %+v, %v", got, err)
		}
		first := got.EventSourceMappings[0]
		if aws.ToString(first.State) != "Enabled" || aws.ToString(first.FilterCriteria.Filters[0].Pattern) != `{"a": [1]}` {
			t.Errorf("got %+v", first)
		}
	})
	t.Run("lists the mappings of a function and a source", func(t *testing.T) {
		got, err := api.ListEventSourceMappings(t.Context(), &client.ListEventSourceMappingsInput{
			FunctionName: aws.String("other"), EventSourceArn: aws.String("arn:queue"),
		})
		if err != nil || len(got.EventSourceMappings) != 1 || aws.ToString(got.EventSourceMappings[0].EventSourceArn) != "arn:queue" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
