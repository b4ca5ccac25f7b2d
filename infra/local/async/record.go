package async

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const timestampMillis = "2006-01-02T15:04:05.000Z"

// record is what a destination is told. AWS documents its shape under "Retaining
// records of asynchronous invocations".
type record struct {
	Version         string           `json:"version"`
	Timestamp       string           `json:"timestamp"`
	RequestContext  requestContext   `json:"requestContext"`
	RequestPayload  json.RawMessage  `json:"requestPayload"`
	ResponseContext *responseContext `json:"responseContext,omitempty"`
	ResponsePayload json.RawMessage  `json:"responsePayload,omitempty"`
}

type requestContext struct {
	RequestID   string `json:"requestId"`
	FunctionARN string `json:"functionArn"`
	Condition   string `json:"condition"`
	Invoked     int    `json:"approximateInvokeCount"`
}

type responseContext struct {
	StatusCode    int    `json:"statusCode"`
	Version       string `json:"executedVersion"`
	FunctionError string `json:"functionError,omitempty"`
}

// end tells the destination of a failure, if there is one.
func (e *event) end(ctx context.Context, condition string) {
	if condition == succeeded {
		return
	}
	log := e.opts.Log.With("function", e.function.LogicalID, "request_id", e.id, "condition", condition)
	log.ErrorContext(ctx, "asynchronous invocation given up")
	if e.settings.OnFailure == "" {
		return
	}
	if err := e.report(ctx, e.settings.OnFailure, condition); err != nil {
		log.ErrorContext(ctx, "a destination was not told", "error", err)
	}
}

func (e *event) report(ctx context.Context, destination, condition string) error {
	told := record{
		Version:   "1.0",
		Timestamp: time.Now().UTC().Format(timestampMillis),
		RequestContext: requestContext{
			RequestID: e.id, Condition: condition, Invoked: e.tries,
			FunctionARN: fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s:$LATEST", e.opts.Region, e.opts.Account, e.function.Name),
		},
		RequestPayload: asJSON(e.payload),
	}
	if e.tries > 0 {
		told.ResponseContext = &responseContext{StatusCode: 200, Version: "$LATEST", FunctionError: e.last.FunctionError}
		told.ResponsePayload = asJSON(e.last.Payload)
	}
	body, err := json.Marshal(told)
	if err != nil {
		return fmt.Errorf("describe an invocation: %w", err)
	}
	return e.opts.Destinations.Deliver(ctx, destination, body)
}

// asJSON keeps what is JSON and quotes what is not: a stream's bytes.
func asJSON(data []byte) json.RawMessage {
	if len(data) == 0 {
		return json.RawMessage("null")
	}
	if json.Valid(data) {
		return data
	}
	quoted, _ := json.Marshal(string(data)) // a text always marshals
	return quoted
}
