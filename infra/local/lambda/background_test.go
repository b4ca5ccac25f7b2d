package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/rethread/rethread/infra/local/async"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const failuresARN = "arn:aws:sqs:us-east-1:000000000000:failures"

// TestSDKClient calls functions with the SDK's Lambda client.
func TestSDKClient(t *testing.T) {
	probe := function("probe", longTimeout)
	probe.Async = &samtemplate.AsyncInvoke{MaxRetries: 2, MaxAge: time.Hour, OnFailure: failuresARN}
	host, failures := mustBackground(t, probe)
	client := awslambda.New(awslambda.Options{
		BaseEndpoint: aws.String(host.Endpoint()), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), RetryMaxAttempts: 1,
	})
	invoke := func(kind types.InvocationType, payload string) (*awslambda.InvokeOutput, error) {
		return client.Invoke(t.Context(), &awslambda.InvokeInput{
			FunctionName: aws.String("arn:aws:lambda:us-east-1:000000000000:function:probe"), InvocationType: kind, Payload: []byte(payload),
		})
	}
	t.Run("waits for the answer", func(t *testing.T) {
		out, err := invoke(types.InvocationTypeRequestResponse, `{}`)
		if err != nil || out.StatusCode != 200 || !strings.Contains(string(out.Payload), `"pid"`) {
			t.Fatalf("got %+v, %v", out, err)
		}
		var got answer
		if err := json.Unmarshal(out.Payload, &got); err != nil || got.Env["AWS_ENDPOINT_URL_LAMBDA"] != host.Endpoint() {
			t.Errorf("functions got the endpoint %s (%v)", got.Env["AWS_ENDPOINT_URL_LAMBDA"], err)
		}
	})
	t.Run("returns a function's error", func(t *testing.T) {
		out, err := invoke(types.InvocationTypeRequestResponse, `{"do":"fail"}`)
		if err != nil || aws.ToString(out.FunctionError) != "Unhandled" {
			t.Errorf("got %+v, %v", out, err)
		}
	})
	t.Run("does not run the function in a dry run", func(t *testing.T) {
		if out, err := invoke(types.InvocationTypeDryRun, `{}`); err != nil || out.StatusCode != 204 {
			t.Errorf("got %+v, %v", out, err)
		}
	})
	t.Run("refuses more than 1 MB for an asynchronous invocation", func(t *testing.T) {
		_, err := invoke(types.InvocationTypeEvent, `"`+strings.Repeat("x", async.MaxPayloadBytes)+`"`)
		var large *types.RequestTooLargeException
		if !errors.As(err, &large) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("returns an error for an unknown function", func(t *testing.T) {
		_, err := client.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: aws.String("none"), InvocationType: types.InvocationTypeEvent})
		var missing *types.ResourceNotFoundException
		if !errors.As(err, &missing) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("retries after a crash with the same request id", func(t *testing.T) {
		if out, err := invoke(types.InvocationTypeEvent, `{"do":"exit"}`); err != nil || out.StatusCode != 202 {
			t.Fatalf("got %+v, %v", out, err)
		}
		record := mustRecord(t, failures, 1)
		if record.RequestContext.Condition != "RetriesExhausted" || record.RequestContext.Invoked != 3 ||
			record.RequestPayload["do"] != "exit" || !strings.Contains(record.ResponsePayload["errorMessage"].(string), record.RequestContext.RequestID) {
			t.Errorf("got %+v", record)
		}
	})
}

type failureRecord struct {
	RequestContext struct {
		RequestID, Condition string
		Invoked              int `json:"approximateInvokeCount"`
	}
	RequestPayload, ResponsePayload map[string]any
}

func mustRecord(t *testing.T, q *queue.Queue, n int) failureRecord {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longTimeout)
	defer cancel()
	messages, err := q.Wait(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	var record failureRecord
	if err := json.Unmarshal([]byte(messages[n-1].Body), &record); err != nil {
		t.Fatal(err)
	}
	return record
}

func mustBackground(t *testing.T, functions ...lambda.Definition) (*lambda.Host, *queue.Queue) {
	t.Helper()
	binary := mustBuild(t)
	for i := range functions {
		functions[i].Binary = binary
	}
	quiet := slog.New(slog.DiscardHandler)
	queues := queue.NewSet(&samtemplate.Template{Queues: []samtemplate.Queue{{Name: "failures", ARN: failuresARN}}}, quiet)
	host, err := lambda.Start(t.Context(), lambda.Options{
		Functions: functions, Region: "us-east-1", Account: "000000000000", Output: io.Discard, Log: quiet, Destinations: queues,
		AsyncWaits: async.Waits{
			Retries:      [...]time.Duration{10 * time.Millisecond, 20 * time.Millisecond},
			FirstRefusal: time.Millisecond, MaxRefusal: 10 * time.Millisecond,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	failures, _ := queues.Queue("failures")
	return host, failures
}
