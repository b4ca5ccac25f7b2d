package run

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// MarkInterrupted returns the event that ends a run as one that marks it as failed or
// cancelled: an event of the agent's, with the problem and without any parts. A run that
// is kept has one if no item was in progress that has the problem.
func MarkInterrupted(e session.Event, r Run, why *Problem) (session.Event, error) {
	raw, err := jsonx.Marshal(why)
	if err != nil {
		return e, err
	}
	if r.Agent != "" {
		e.Author = r.Agent
	}
	e.Status = session.EventFailed
	return e.With("error", raw).With("content", json.RawMessage(`{"role":"model","parts":[]}`)), nil
}

// InterruptedCall is the result of a call that was open when its run was interrupted.
const InterruptedCall = `{"error":"the call was interrupted: it may or may not have been carried out, and its result is unknown"}`

// WithInterruptions returns a history as agents are given it. Of a run that was kept
// although it failed or was cancelled, open calls have a result, which is that they were
// interrupted, and a note after its output says where the answer ends.
func WithInterruptions(events []session.Event) []session.Event {
	interrupted := map[string]bool{}
	for _, e := range events {
		if interruptedBy(e) != "" {
			interrupted[e.InvocationID] = true
		}
	}
	if len(interrupted) == 0 {
		return events
	}
	open := map[int][]call{}
	for _, c := range openCalls(events) {
		if interrupted[events[c.event].InvocationID] {
			open[c.event] = append(open[c.event], c)
		}
	}
	var out []session.Event
	for i, e := range events {
		out = append(out, e)
		if calls := open[i]; len(calls) > 0 {
			out = append(out, addition(e, e.ID+":calls", e.Author, resultsOf(calls)))
		}
		note := "[The answer was interrupted here: it failed.]"
		switch interruptedBy(e) {
		case "":
			continue
		case CodeCancelled:
			note = "[The answer was interrupted here: it was cancelled.]"
		}
		out = append(out, addition(e, e.InvocationID+":interrupted", "user", []content.Part{content.Text(note)}))
	}
	return out
}

// interruptedBy returns the code of the problem that ended an event's run; "" for an
// event that did not end one.
func interruptedBy(e session.Event) string {
	var why Problem
	if e.Status != session.EventFailed {
		return ""
	}
	if json.Unmarshal(e.Fields["error"], &why) != nil || why.Code == "" {
		return CodeAgent
	}
	if why.Code == CodeInterrupted { // its run went on
		return ""
	}
	return why.Code
}

// addition is an event that only agents are given, at the place of another.
func addition(of session.Event, id, author string, parts []content.Part) session.Event {
	said, err := content.Content{Role: "user", Parts: parts}.JSON()
	if err != nil {
		panic(err) // all values are valid strings and JSON
	}
	return session.Event{
		ID: id, SessionID: of.SessionID, InvocationID: of.InvocationID, Author: author,
		Seq: of.Seq, Status: session.EventCompleted, CreatedTime: of.CreatedTime,
		Fields: map[string]json.RawMessage{"type": json.RawMessage(`"interrupted"`), "content": said},
	}
}

func resultsOf(calls []call) []content.Part {
	parts := make([]content.Part, len(calls))
	for i, c := range calls {
		parts[i] = content.Answer(c.ID, c.Name, json.RawMessage(InterruptedCall))
	}
	return parts
}
