package async

import (
	"context"
	"time"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// The conditions under which an invocation ends, in Lambda's words.
const (
	succeeded        = "Success"
	retriesExhausted = "RetriesExhausted"
	ageExceeded      = "EventAgeExceeded"
)

// event is a pending invocation.
type event struct {
	*Runner
	function samtemplate.Function
	settings samtemplate.AsyncInvoke
	id       string
	payload  []byte
	slots    chan struct{}
	since    time.Time
	tries    int
	refusals int
	last     Outcome
}

// run returns when the invocation has succeeded or was abandoned, or when ctx
// ends.
func (e *event) run(ctx context.Context) {
	for {
		if time.Since(e.since) > e.settings.MaxAge {
			e.finish(ctx, ageExceeded)
			return
		}
		pause, condition := e.try(ctx)
		switch {
		case condition != succeeded && ctx.Err() != nil: // the invocation may have failed because ctx ended
			e.opts.Log.WarnContext(ctx, "asynchronous invocation dropped because the host is stopping",
				"function", e.function.LogicalID, "request_id", e.id)
			return
		case condition != "":
			e.finish(ctx, condition)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// try invokes the function once. It returns how the invocation ended, or the pause
// before the next attempt.
func (e *event) try(ctx context.Context) (pause time.Duration, condition string) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // also when a slot was free at the same time
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
		e.opts.Log.WarnContext(ctx, "attempt of an asynchronous invocation failed", "function", e.function.LogicalID,
			"request_id", e.id, "attempt", e.tries, "answer", string(outcome.Payload))
	}
	if e.tries > e.settings.MaxRetries {
		return 0, retriesExhausted
	}
	return e.opts.Waits.Retries[e.tries-1], ""
}

// refused returns the pause before the next attempt. A refusal is no attempt: only
// the age of the invocation limits how many there are.
func (e *event) refused() time.Duration {
	pause := e.opts.Waits.FirstRefusal
	for range e.refusals {
		pause = min(2*pause, e.opts.Waits.MaxRefusal)
	}
	e.refusals++
	return pause
}
