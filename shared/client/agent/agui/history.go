package agui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// history builds the messages of a request. Agents pass them on to models, which
// require the answer of every tool call right after the call, and no answer without a
// call. A session need not satisfy that, so history adds and drops answers.
type history struct {
	agent     string
	messages  []message
	open      []transcript.OpenCall
	calls     int
	names     map[string]string // of tools, by the id of the call
	encrypted map[string]string // values, by the id of the message or call
	questions questions
	// interrupted is what was said of the answer to the last message, if the worker
	// was lost.
	interrupted transcript.Interruption
}

// historyOf returns the history of a request, and after it what earlier workers
// of the run have said. Events without content are left out, and so is thinking,
// except the agent's own.
func historyOf(req run.Request) *history {
	h := &history{
		agent: req.Agent, messages: []message{}, names: map[string]string{}, encrypted: map[string]string{},
	}
	events := slices.Concat(req.Events, req.Said)
	for _, e := range events {
		maps.Copy(h.encrypted, recordOf(e, h.agent).Encrypted)
	}
	h.questions = questionsOf(events, h.agent, threadID(req))
	for i, e := range events {
		h.add(i, e)
		h.questions.reached(i)
		if i == len(req.Events)-1 { // what was said follows
			h.closeCalls()
			h.interrupted = transcript.InterruptionOf(req)
		}
	}
	h.closeCalls()
	h.askToContinue(req)
	return h
}

// askToContinue asks the agent to go on with an interrupted answer. Agents take
// messages that end with their own for a conversation with nothing to do.
func (h *history) askToContinue(req run.Request) {
	if n := len(h.messages); req.Continuation > 0 && n > 0 && h.messages[n-1].Role == roleAssistant {
		id := fmt.Sprintf("%s:continuation:%d", req.RunID, req.Continuation)
		h.messages = append(h.messages, message{ID: id, Role: roleUser, Content: transcript.InterruptedNote(req)})
	}
}

func (h *history) add(event int, e session.Event) {
	c := transcript.ContentOf(e)
	t := turn{h: h, id: cmp.Or(e.ID, strconv.FormatInt(e.Seq, 10)), record: recordOf(e, h.agent)}
	for i, p := range c.Parts {
		switch {
		case h.questions.isAbout(event, p):
		case p.Response != nil && t.answer(i, p):
		case c.FromModel(e):
			t.fromModel(i, p)
		default:
			t.fromUser(p)
		}
	}
	t.end()
}

// closeCalls answers the calls that are still open when the conversation continues,
// unless the agent waits for a person's answer to go on with them.
func (h *history) closeCalls() {
	if h.questions.waiting {
		return
	}
	for _, call := range h.open {
		result := h.interrupted.ResultOf(call)
		var problem struct{ Error string }
		_ = json.Unmarshal([]byte(result), &problem) // it is one of this package's
		h.messages = append(h.messages, message{
			ID: call.ID + ":unanswered", Role: roleTool, ToolCallID: call.ID, Content: result, Error: problem.Error,
		})
	}
	h.open = nil
}
