package responsesconvert

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// recordMember is the member of an input event with a record.
const recordMember = "open_responses"

// Record is what the last input event of a run keeps of the request that it was created
// from.
type Record struct {
	// After is the position in the id of the response.
	After int64 `json:"after"`
	// Body identifies the body of a request with an Idempotency-Key.
	Body string `json:"body,omitempty"`
	// Tools are the names of the functions, besides those that came with the request, of
	// which the client answers the calls.
	Tools []string `json:"tools,omitempty"`
	// Shown is the members of the response that repeat the request.
	Shown map[string]json.RawMessage `json:"shown,omitempty"`
}

// RecordOf returns the record of an event; an empty one without any.
func RecordOf(e session.Event) Record {
	var r Record
	if raw := e.Fields[recordMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil {
		return Record{}
	}
	return r
}

// RunRecord returns the record of the run that events belong to: that of its last input.
// A run that another protocol started has none.
func RunRecord(own []session.Event) Record { return RecordOf(conversation.LastInput(own)) }

// answeredTools returns the names of the functions whose calls the client of a run
// answers.
func answeredTools(own []session.Event) map[string]bool {
	out := map[string]bool{}
	last := conversation.LastInput(own)
	offered, _ := conversation.FrontEndOf(last).Functions(nil)
	for _, t := range offered {
		out[t.Name] = true
	}
	for _, name := range RecordOf(last).Tools {
		out[name] = true
	}
	return out
}

// Offer adds a record, and what the agent may use besides the messages, to the last
// event of an input.
func Offer(input []session.Event, r Record, offer run.FrontEnd) error {
	last := &input[len(input)-1]
	var err error
	if last.Fields[recordMember], err = jsonx.Marshal(r); err != nil {
		return err
	}
	last.Fields[run.FrontEndMember], err = jsonx.Marshal(offer)
	return err
}

// HistoryOf returns the invocation of the events that a run's request has before its
// input.
func HistoryOf(runID string) string { return runID + "-h" }
