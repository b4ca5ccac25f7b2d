package agui

import (
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/session"
)

// interruptCall is the name of the function call that shows an interrupt.
const interruptCall = "ag_ui_interrupt"

// questions are the agent's interrupts in the history. Those of its last run are open
// until the next one, which must answer each of them exactly once.
type questions struct {
	all     map[string]bool
	open    []string
	at      int // index of the event with the open ones
	answers map[string]json.RawMessage
	waiting bool // the event with the open ones has been reached
	// takesText is set while there is one open question whose answer may be a text.
	takesText bool
	// texts has the indexes of the events whose text is such an answer; text is the
	// last one.
	texts map[int]bool
	text  int
}

func questionsOf(events []session.Event, agent, thread string) questions {
	q := questions{all: map[string]bool{}, at: -1, text: -1, answers: map[string]json.RawMessage{}, texts: map[int]bool{}}
	for i, e := range events {
		record := recordOf(e, agent)
		c := transcript.ContentOf(e)
		if !canResume(record, c, thread) {
			record.Interrupts = nil
		}
		for _, id := range record.Interrupts {
			q.all[id] = true
		}
		switch {
		case len(record.Interrupts) > 0:
			q.open, q.at, q.takesText = record.Interrupts, i, takesText(c)
			clear(q.answers)
		case len(c.Parts) > 0 && (record.Agent != "" || c.FromModel(e)): // the agent went on
			if record.Agent == "" { // another one, which took the text for a message
				delete(q.texts, q.text)
			}
			q.open, q.at, q.takesText, q.text = nil, -1, false, -1
		default:
			q.take(i, c)
		}
	}
	return q
}

// canResume reports whether the agent can go on from its questions in a thread: in the
// one in which it asked, or if all are about tool calls, which are in the messages. Other
// questions are calls like any other in the messages of a new thread.
func canResume(r record, c transcript.Content, thread string) bool {
	if r.Thread == thread {
		return true
	}
	for _, p := range c.Parts {
		var asked struct {
			ToolCallID string `json:"toolCallId"`
		}
		if p.Call == nil || json.Unmarshal(p.Call.Args, &asked) != nil || asked.ToolCallID == "" {
			return false
		}
	}
	return true
}

// take keeps the answers in a person's content: responses, or else the text.
func (q *questions) take(event int, c transcript.Content) {
	text := ""
	for _, p := range c.Parts {
		switch {
		case p.Response != nil && slices.Contains(q.open, p.Response.ID):
			q.answers[p.Response.ID] = p.Response.Response
			q.takesText = false
		case p.Text != nil:
			text += *p.Text
		}
	}
	if answer, err := jsonx.Marshal(text); q.takesText && text != "" && err == nil {
		q.answers[q.open[0]], q.takesText = answer, false
		q.texts[event], q.text = true, event
	}
}

// takesText reports whether an event asks one question whose answer may be a text.
func takesText(c transcript.Content) bool {
	if len(c.Parts) != 1 {
		return false
	}
	p := c.Parts[0]
	var asked struct {
		Schema struct {
			Type string `json:"type"`
		} `json:"responseSchema"`
	}
	return p.Call != nil && json.Unmarshal(p.Call.Args, &asked) == nil && (asked.Schema.Type == "" || asked.Schema.Type == "string")
}

// isAbout reports whether a part of an event is an interrupt or the answer to one; the
// messages do not contain these.
func (q *questions) isAbout(event int, p transcript.Part) bool {
	return p.Text != nil && q.texts[event] || p.Call != nil && p.Call.Name == interruptCall && q.all[p.Call.ID] ||
		p.Response != nil && q.all[p.Response.ID]
}

// reached notes that an event has been added to the messages.
func (q *questions) reached(event int) { q.waiting = q.waiting || event == q.at }
