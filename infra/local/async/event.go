package async

import (
	"context"
	"time"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// How an invocation ended, in Lambda's words.
const (
	succeeded        = "Success"
	retriesExhausted = "RetriesExhausted"
	ageExceeded      = "EventAgeExceeded"
)

// event is an invocation on its way.
type event struct {
	*Runner
	function samtemplate.Function
	settings samtemplate.AsyncInvoke
	id       string
	payload  []byte
	places   chan struct{}
	since    time.Time
	tries    int
	refusals int
	last     Outcome
}

// run ends when the invocation has succeeded, was given up, or ctx ends.
func (e *event) run(ctx context.Context) {
	for {
		if time.Since(e.since) > e.settings.MaxAge {
			e.end(ctx, ageExceeded)
			return
		}
		pause, condition := e.try(ctx)
		switch {
		case condition != succeeded && ctx.Err() != nil: // it may have failed for that reason
			e.opts.Log.WarnContext(ctx, "an asynchronous invocation is dropped: the host is stopping",
				"function", e.function.LogicalID, "request_id", e.id)
			return
		case condition != "":
			e.end(ctx, condition)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// try invokes once. It returns how the invocation ended, or what to wait before
// the next try.
func (e *event) try(ctx context.Context) (pause time.Duration, condition string) {
	select {
	case e.places <- struct{}{}:
		defer func() { <-e.places }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // also where a place was free at the same time
		return 0, ""
	}
	outcome, err := e.opts.Invoker.Run(ctx, e.function.LogicalID, e.id, e.payload)
	if err != nil {
		return e.refused(), ""
	}
	e.tries++
	e.refusals = 0
	e.last = outcome
	if outcome.FunctionError == "" {
		return 0, succeeded
	}
	if ctx.Err() == nil {
		e.opts.Log.WarnContext(ctx, "asynchronous invocation failed", "function", e.function.LogicalID,
			"request_id", e.id, "try", e.tries, "answer", string(outcome.Payload))
	}
	if e.tries > e.settings.MaxRetries {
		return 0, retriesExhausted
	}
	return e.opts.Waits.Retries[e.tries-1], ""
}

// refused is no try: it goes on until the invocation is too old.
func (e *event) refused() time.Duration {
	pause := e.opts.Waits.FirstRefusal
	for range e.refusals {
		pause = min(2*pause, e.opts.Waits.MostRefusal)
	}
	e.refusals++
	return pause
}
