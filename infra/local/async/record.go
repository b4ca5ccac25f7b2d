package async

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/infra/local/destination"
)

// record is what a destination is told. AWS documents its shape under "Retaining
// records of asynchronous invocations".
type record struct {
	destination.Record
	RequestPayload  json.RawMessage `json:"requestPayload"`
	ResponsePayload json.RawMessage `json:"responsePayload,omitempty"`
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

func (e *event) report(ctx context.Context, arn, condition string) error {
	told := record{
		Record: destination.New(destination.RequestContext{
			RequestID: e.id, Condition: condition, Invoked: e.tries,
			FunctionARN: fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s:$LATEST", e.opts.Region, e.opts.Account, e.function.Name),
		}),
		RequestPayload: asJSON(e.payload),
	}
	if e.tries > 0 {
		told.Answered(e.last.FunctionError)
		told.ResponsePayload = asJSON(e.last.Payload)
	}
	return destination.Deliver(ctx, e.opts.Destinations, arn, told)
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
