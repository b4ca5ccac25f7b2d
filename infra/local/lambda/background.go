package lambda

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/async"
)

// InvokeAsync runs a function, named by its name or logical id, in the background,
// as its EventInvokeConfig configures it. It ignores unknown functions.
func (h *Host) InvokeAsync(name string, payload []byte) { h.submit(name, payload) }

// submit returns the request id, which is the same for every attempt.
func (h *Host) submit(name string, payload []byte) (requestID string) {
	requestID = uuid.NewString()
	if p, ok := h.pools[name]; ok {
		h.background.Submit(p.Function, requestID, payload)
	}
	return requestID
}

// background is the async.Invoker of a Host.
type background struct{ *Host }

// Run implements async.Invoker.
func (b background) Run(ctx context.Context, function, requestID string, payload []byte) (async.Outcome, error) {
	result, err := b.invoke(ctx, function, newInvocation(requestID, payload, ""))
	if errors.Is(err, ErrRequestTooLarge) { // a retry would fail, too
		result = failure{Type: "RequestTooLargeException", Message: err.Error()}.result()
	} else if err != nil {
		return async.Outcome{}, err
	}
	result.Collect()
	return async.Outcome{Payload: result.Payload, FunctionError: result.FunctionError}, nil
}
