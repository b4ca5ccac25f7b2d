package a2a

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// maxDepth is how many agents of Rethread may call each other in a row over A2A,
// and depthKey the metadata of a message that counts them.
const (
	maxDepth = 5
	depthKey = "rethread_depth"
)

// depthOf returns how many agents of Rethread called each other before this run.
func depthOf(req run.Request) int {
	depth := 0
	for _, e := range req.Events {
		var of struct {
			Metadata metadata `json:"metadata"`
		}
		if e.InvocationID != req.RunID || json.Unmarshal(e.Fields[recordMember], &of) != nil {
			continue
		}
		var n int
		if json.Unmarshal(of.Metadata[depthKey], &n) == nil {
			depth = max(depth, n)
		}
	}
	return depth
}

// composer composes the message of a run.
type composer struct {
	req   run.Request
	old   bool
	parts []any
	texts []string // of the text part in progress
}

// messageParts returns what the agent is told: what came before as text, with authors,
// then the run's input as it is, then what earlier workers of the run had said.
func messageParts(req run.Request, past past, old bool) []any {
	m := composer{req: req, old: old}
	if !past.found && req.Truncated {
		m.texts = append(m.texts, "(Older turns of the conversation are left out.)")
	}
	var input []session.Event
	for _, e := range past.news {
		if e.InvocationID == req.RunID {
			input = append(input, e)
		} else {
			m.retell(e)
		}
	}
	if len(m.texts) > 0 {
		heading := "The conversation so far:"
		if past.found {
			heading = "Said since then:"
		}
		m.texts = append([]string{heading}, m.texts...)
		m.endText()
	}
	for _, e := range input {
		m.pass(e)
	}
	for _, e := range req.Said {
		m.retell(e)
	}
	if len(m.texts) > 0 {
		m.texts = append([]string{"Your answer was interrupted. You had said, and calls without a response may have been carried out:"}, m.texts...)
		m.endText()
	}
	if len(m.parts) == 0 { // a message needs a part
		m.add("text", "", nil)
	}
	return m.parts
}

// endText makes a part of the texts so far.
func (m *composer) endText() {
	m.add("text", strings.Join(m.texts, "\n\n"), nil)
	m.texts = nil
}

// retell adds an event as text with its author.
func (m *composer) retell(e session.Event) {
	var said []string
	for _, p := range transcript.ContentOf(e).Parts {
		switch {
		case p.Thought:
		case p.Text != nil && *p.Text != "":
			said = append(said, *p.Text)
		case p.Text != nil:
		case p.Call != nil:
			said = append(said, fmt.Sprintf("(called %s %s with %s)", p.Call.Name, p.Call.ID, orEmptyObject(p.Call.Args)))
		case p.Response != nil:
			said = append(said, fmt.Sprintf("(%s %s returned %s)", p.Response.Name, p.Response.ID, orEmptyObject(p.Response.Response)))
		default:
			said = append(said, p.InWords())
		}
	}
	if len(said) > 0 {
		m.texts = append(m.texts, cmp.Or(e.Author, "user")+": "+strings.Join(said, "\n"))
	}
}

func orEmptyObject(raw json.RawMessage) json.RawMessage {
	if jsonx.IsNull(raw) {
		return json.RawMessage("{}")
	}
	return raw
}
