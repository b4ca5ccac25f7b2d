package agent

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// continuations reads how often a run may be continued.
func (r *reader) continuations() int {
	var n int
	r.take("max_continuations", &n, "an integer")
	if n < 0 || n > run.MaxContinuations {
		r.fail("max_continuations", "must be an integer from 0 to %d", run.MaxContinuations)
	}
	return n
}

// continuationJSON is the part of a request by which an agent continues a run.
type continuationJSON struct {
	Continuation int             `json:"continuation,omitempty"`
	Said         []session.Event `json:"said,omitempty"`
	Unanswered   []string        `json:"unanswered_tool_calls,omitempty"`
}

func continuationOf(req run.Request) continuationJSON {
	return continuationJSON{req.Continuation, req.Said, run.UnansweredCalls(req.Said)}
}

// isAnswered reports whether a model's answer, which is one item, is complete, and
// only the end of its run was lost with the worker.
func isAnswered(req run.Request) bool {
	n := len(req.Said)
	return n > 0 && req.Said[n-1].Status == session.EventCompleted
}

// interruptedNote tells a model that its answer was interrupted.
func interruptedNote(req run.Request) string {
	if len(req.Said) == 0 {
		return "An earlier attempt to answer the last message was interrupted before anything of it was kept."
	}
	return "Your answer to the last message was interrupted. The end of this conversation is what was kept of it: " +
		"continue from there without repeating it."
}

// interruptedCall is the result of a call that was open when the worker was lost.
const interruptedCall = `{"error":"the call was interrupted: it may or may not have been carried out, and its result is unknown"}`

// interruption is what a model is told about the calls of an interrupted answer. The
// zero value is none.
type interruption struct {
	continued  bool
	unanswered []string
}

func interruptionOf(req run.Request) interruption {
	return interruption{continued: req.Continuation > 0, unanswered: run.UnansweredCalls(req.Said)}
}

// resultOf returns the result of a call without a response.
func (i interruption) resultOf(call openCall) string {
	if i.continued && (call.ours || slices.Contains(i.unanswered, call.id)) {
		return interruptedCall
	}
	return noResult
}
