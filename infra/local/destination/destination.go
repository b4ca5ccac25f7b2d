// Package destination is what Lambda tells queues of invocations that failed: what
// the records of event source mappings and of asynchronous invocations have in
// common.
package destination

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Destinations take records; each is named by its ARN.
type Destinations interface {
	Deliver(ctx context.Context, arn string, body []byte) error
}

// Record is the head of a record.
type Record struct {
	Version         string           `json:"version"`
	Timestamp       string           `json:"timestamp"`
	RequestContext  RequestContext   `json:"requestContext"`
	ResponseContext *ResponseContext `json:"responseContext,omitempty"`
}

// RequestContext says which function was tried, how often, and why it ended.
type RequestContext struct {
	RequestID   string `json:"requestId"`
	FunctionARN string `json:"functionArn"`
	Condition   string `json:"condition"`
	Invoked     int    `json:"approximateInvokeCount"`
}

// ResponseContext is how the last try was answered.
type ResponseContext struct {
	StatusCode    int    `json:"statusCode"`
	Version       string `json:"executedVersion"`
	FunctionError string `json:"functionError,omitempty"`
}

// New is the record of a request that was given up now.
func New(request RequestContext) Record {
	return Record{Version: "1.0", Timestamp: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), RequestContext: request}
}

// Answered adds the answer to the last try.
func (r *Record) Answered(functionError string) {
	r.ResponseContext = &ResponseContext{StatusCode: 200, Version: "$LATEST", FunctionError: functionError}
}

// Deliver sends a record, which embeds Record, to a destination.
func Deliver(ctx context.Context, to Destinations, arn string, record any) error {
	body, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("describe what was given up: %w", err)
	}
	return to.Deliver(ctx, arn, body)
}
