package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// adkMember is the member of an event with an adkRecord.
const adkMember = "adk"

// adkRecord is what an event of an agent of ADK's keeps besides ADK's own members.
type adkRecord struct {
	// SessionID is the session of ADK's that waits for the responses to the event's
	// long-running calls.
	SessionID string `json:"session_id,omitempty"`
	// Artifact is the artifact of which the event has the content.
	Artifact *adkArtifact `json:"artifact,omitempty"`
}

type adkArtifact struct {
	Name    string      `json:"name"`
	Version json.Number `json:"version"`
}

func adkRecordOf(e session.Event) adkRecord {
	var r adkRecord
	if raw := e.Fields[adkMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil {
		return adkRecord{} // somebody else's member of that name
	}
	return r
}

// adkTurn is a request in the parts that ADK's server gets.
type adkTurn struct {
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
	answer   adkContent
	answered []string
}

func adkTurnOf(req run.Request) (*adkTurn, error) {
	t := &adkTurn{events: slices.Concat(req.Events, req.Said), goesOn: len(req.Said) > 0}
	if req.Continuation > 0 {
		t.note = interruptedNote(req)
	}
	begin := len(req.Events)
	for begin > 0 && req.Events[begin-1].InvocationID == req.RunID {
		begin--
	}
	t.open, t.kept = openCalls(req.Events[:begin])
	if !strings.HasPrefix(t.kept, adkSessionPrefix(req.SessionID)) {
		t.open, t.kept = nil, ""
	}
	if t.kept == "" || t.note != "" || len(req.Events) != begin+1 {
		return t, nil
	}
	return t, t.takeAnswer(req.Events[begin])
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
	var parts []map[string]any
	author := ""
	for _, e := range req.Said {
		c, err := contentOf(e)
		if err != nil {
			return nil, fmt.Errorf("event %d of the run: %w", e.Seq, err)
		}
		for _, raw := range c.Parts {
			if p := memberOf(raw); p.Call != nil && slices.Contains(unanswered, p.Call.ID) {
				author = e.Author
				parts = append(parts, map[string]any{"function_response": map[string]any{
					"id": p.Call.ID, "name": p.Call.Name, "response": json.RawMessage(interruptedCall),
				}})
			}
		}
	}
	return jsonx.Marshal(map[string]any{
		"invocation_id": req.RunID, "author": author, "content": map[string]any{"role": "user", "parts": parts},
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
		for _, id := range longRunning(e) {
			open[id] = !responded[id]
		}
		for _, id := range responses(e) {
			responded[id] = true
		}
		if id := adkRecordOf(e).SessionID; kept == "" {
			kept = id
		}
	}
	maps.DeleteFunc(open, func(_ string, isOpen bool) bool { return !isOpen })
	return open, kept
}

// longRunning returns the ids of an event's long-running calls.
func longRunning(e session.Event) []string {
	var ids []string
	if raw := e.Fields["long_running_tool_ids"]; jsonx.IsNull(raw) || json.Unmarshal(raw, &ids) != nil {
		return nil
	}
	return ids
}

// responses returns the ids of the calls to which an event has responses.
func responses(e session.Event) []string {
	var ids []string
	c, _ := contentOf(e) // malformed content has none
	for _, raw := range c.Parts {
		if p := memberOf(raw); p.Response != nil {
			ids = append(ids, p.Response.ID)
		}
	}
	return ids
}

func (t *adkTurn) takeAnswer(e session.Event) error {
	c, err := contentOf(e)
	if err != nil {
		return fmt.Errorf("event %d of the history: %w", e.Seq, err)
	}
	t.answer = adkContent{Role: "user"}
	for _, raw := range c.Parts {
		p := memberOf(raw)
		if p.Response == nil || !t.open[p.Response.ID] {
			t.answered = nil
			return nil
		}
		t.answered = append(t.answered, p.Response.ID)
		t.answer.Parts = append(t.answer.Parts, adkPartOf(p, raw))
	}
	t.answers = len(t.answered) > 0
	return nil
}

// waiting returns the calls that stay open in a session of ADK's when the turn is
// sent to it.
func (t *adkTurn) waiting(id string) map[string]bool {
	waiting := map[string]bool{}
	if id == t.kept {
		maps.Copy(waiting, t.open)
	}
	for _, answered := range t.answered {
		delete(waiting, answered)
	}
	return waiting
}
