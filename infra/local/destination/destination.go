// Package destination is the record that Lambda sends to a queue about a failed
// invocation: what the records of event source mappings and of asynchronous
// invocations have in common.
package destination

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Destinations accept records; a destination is named by its ARN.
type Destinations interface {
	Deliver(ctx context.Context, arn string, body []byte) error
}

// Record is the common part of a record.
type Record struct {
	Version         string           `json:"version"`
	Timestamp       string           `json:"timestamp"`
	RequestContext  RequestContext   `json:"requestContext"`
	ResponseContext *ResponseContext `json:"responseContext,omitempty"`
}

// RequestContext identifies the function, the number of attempts, and why they
// ended.
type RequestContext struct {
	RequestID   string `json:"requestId"`
	FunctionARN string `json:"functionArn"`
	Condition   string `json:"condition"`
	Invoked     int    `json:"approximateInvokeCount"`
}

// ResponseContext is the outcome of the last attempt.
type ResponseContext struct {
	StatusCode    int    `json:"statusCode"`
	Version       string `json:"executedVersion"`
	FunctionError string `json:"functionError,omitempty"`
}

// New returns the record of a request that was abandoned now.
func New(request RequestContext) Record {
	return Record{Version: "1.0", Timestamp: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), RequestContext: request}
}

// Answered adds the answer of the last attempt.
func (r *Record) Answered(functionError string) {
	r.ResponseContext = &ResponseContext{StatusCode: 200, Version: "$LATEST", FunctionError: functionError}
}

// Deliver sends a record, which embeds Record, to a destination.
func Deliver(ctx context.Context, to Destinations, arn string, record any) error {
	body, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode the record of a failed invocation: %w", err)
	}
	return to.Deliver(ctx, arn, body)
}
