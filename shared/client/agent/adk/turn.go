package adk

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// turn is a request in the parts that ADK's server gets.
type turn struct {
	events []session.Event // the history and the input, then what was said already
	goesOn bool            // the agent is to go on after what was said
	note   string          // tells the agent that an earlier attempt was interrupted
	// open is the ids of the long-running calls that the run before has left open,
	// and kept the session of ADK's in which they are.
	open map[string]bool
	kept string
	// answers is set if the input consists of responses to open calls: answer has
	// them, answered their ids.
	answers  bool
	answer   message
	answered []string
}

func turnOf(req run.Request) *turn {
	t := &turn{events: slices.Concat(req.Events, req.Said), goesOn: len(req.Said) > 0}
	if req.Continuation > 0 {
		t.note = transcript.InterruptedNote(req)
	}
	begin := len(req.Events)
	for begin > 0 && req.Events[begin-1].InvocationID == req.RunID {
		begin--
	}
	t.open, t.kept = openCalls(req.Events[:begin])
	if !belongsTo(t.kept, req) {
		t.open, t.kept = nil, ""
	}
	if t.kept == "" || t.note != "" || len(req.Events) != begin+1 {
		return t
	}
	t.takeAnswer(req.Events[begin])
	return t
}

// asks reports whether earlier workers of the run were lost after the agent had asked
// for something, so that only the end of the run is missing.
func asks(req run.Request) bool {
	open, _ := openCalls(req.Said)
	return len(open) > 0 && req.Said[len(req.Said)-1].Status != session.EventFailed
}

// interruptedCalls returns an event with responses to the calls that were in progress
// when earlier workers of the run were lost; ADK never answers them. It returns nil
// if there are none.
func interruptedCalls(req run.Request) (json.RawMessage, error) {
	unanswered := run.UnansweredCalls(req.Said)
	if len(unanswered) == 0 {
		return nil, nil
	}
	var parts []content.Part
	author := ""
	for _, e := range req.Said {
		for _, p := range transcript.ContentOf(e).Parts {
			if p.Call != nil && slices.Contains(unanswered, p.Call.ID) {
				author = e.Author
				parts = append(parts, content.Answer(p.Call.ID, p.Call.Name, json.RawMessage(run.InterruptedCall)))
			}
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return jsonx.Marshal(map[string]any{
		"invocation_id": req.RunID, "author": author, "content": content.Content{Role: "user", Parts: parts},
	})
}

// openCalls returns the long-running calls of the last run without a response, and
// the session that waits for them.
func openCalls(history []session.Event) (open map[string]bool, kept string) {
	open = map[string]bool{}
	responded := map[string]bool{}
	var last string // invocation
	for _, e := range slices.Backward(history) {
		if jsonx.IsNull(e.Fields["content"]) {
			continue // a change of state
		}
		if last == "" {
			last = e.InvocationID
		}
		if e.InvocationID != last {
			break
		}
		for _, id := range e.LongRunningCalls() {
			open[id] = !responded[id]
		}
		for _, id := range responses(e) {
			responded[id] = true
		}
		if id := recordOf(e).SessionID; kept == "" {
			kept = id
		}
	}
	maps.DeleteFunc(open, func(_ string, isOpen bool) bool { return !isOpen })
	return open, kept
}

// responses returns the ids of the calls to which an event has responses.
func responses(e session.Event) []string {
	var ids []string
	for _, p := range transcript.ContentOf(e).Parts {
		if p.Response != nil {
			ids = append(ids, p.Response.ID)
		}
	}
	return ids
}

func (t *turn) takeAnswer(e session.Event) {
	t.answer = message{Role: "user"}
	for _, p := range transcript.ContentOf(e).Parts {
		if p.Response == nil || !t.open[p.Response.ID] {
			t.answered = nil
			return
		}
		t.answered = append(t.answered, p.Response.ID)
		t.answer.Parts = append(t.answer.Parts, partOf(p))
	}
	t.answers = len(t.answered) > 0
}

// waiting returns the calls that stay open in a session of ADK's when the turn is
// sent to it.
func (t *turn) waiting(id string) map[string]bool {
	waiting := map[string]bool{}
	if id == t.kept {
		maps.Copy(waiting, t.open)
	}
	for _, answered := range t.answered {
		delete(waiting, answered)
	}
	return waiting
}
