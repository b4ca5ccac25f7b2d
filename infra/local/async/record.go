package async

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/infra/local/destination"
)

// record is what a destination receives. AWS documents its shape under "Retaining
// records of asynchronous invocations".
type record struct {
	destination.Record
	RequestPayload  json.RawMessage `json:"requestPayload"`
	ResponsePayload json.RawMessage `json:"responsePayload,omitempty"`
}

// finish sends a record of a failure to the destination, if one is configured.
func (e *event) finish(ctx context.Context, condition string) {
	if condition == succeeded {
		return
	}
	log := e.opts.Log.With("function", e.function.LogicalID, "request_id", e.id, "condition", condition)
	log.ErrorContext(ctx, "asynchronous invocation abandoned after its last attempt")
	if e.settings.OnFailure == "" {
		return
	}
	if err := e.report(ctx, e.settings.OnFailure, condition); err != nil {
		log.ErrorContext(ctx, "failed to send the record of an abandoned invocation to its destination", "error", err)
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

// asJSON returns valid JSON as it is and quotes anything else, such as the bytes
// of a stream.
func asJSON(data []byte) json.RawMessage {
	if len(data) == 0 {
		return json.RawMessage("null")
	}
	if json.Valid(data) {
		return data
	}
	quoted, _ := json.Marshal(string(data)) // a string always marshals
	return quoted
}
