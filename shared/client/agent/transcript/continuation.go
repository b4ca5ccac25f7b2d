package transcript

import (
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// IsAnswered reports whether a model's answer, which is one item, is complete, and
// only the end of its run was lost with the worker.
func IsAnswered(req run.Request) bool {
	n := len(req.Said)
	return n > 0 && req.Said[n-1].Status == session.EventCompleted
}

// InterruptedNote tells a model that its answer was interrupted.
func InterruptedNote(req run.Request) string {
	if len(req.Said) == 0 {
		return "An earlier attempt to answer the last message was interrupted before anything of it was kept."
	}
	return "Your answer to the last message was interrupted. The end of this conversation is what was kept of it: " +
		"continue from there without repeating it."
}

// Interruption is what a model is told about the calls of an interrupted answer. The
// zero value is none.
type Interruption struct {
	continued  bool
	unanswered []string
}

// InterruptionOf returns what a model is told of the interruption of a run, if there was
// any.
func InterruptionOf(req run.Request) Interruption {
	return Interruption{continued: req.Continuation > 0, unanswered: run.UnansweredCalls(req.Said)}
}

// ResultOf returns the result of a call without a response.
func (i Interruption) ResultOf(call OpenCall) string {
	if i.continued && (call.Generated || slices.Contains(i.unanswered, call.ID)) {
		return run.InterruptedCall
	}
	return noResult
}

// truncatedNote tells a model that it does not have the whole conversation.
const truncatedNote = "The beginning of this conversation is left out."

// WithNotes returns the instructions of a model: the configured ones, those of the front
// end, and whether the conversation is not whole or the model's answer was interrupted.
func WithNotes(system string, req run.Request) string {
	system = strings.TrimSpace(system + "\n\n" + req.FrontEnd().Instructions)
	if req.Truncated {
		system = strings.TrimSpace(system + "\n\n" + truncatedNote)
	}
	if req.Continuation > 0 {
		system = strings.TrimSpace(system + "\n\n" + InterruptedNote(req))
	}
	return system
}
