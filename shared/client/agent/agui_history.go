package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// aguiHistory builds the messages of a request. Agents pass them on to models, which
// require the answer of every tool call right after the call, and no answer without a
// call. A session need not satisfy that, so aguiHistory adds and drops answers.
type aguiHistory struct {
	agent     string
	messages  []aguiMessage
	open      []openCall
	calls     int
	names     map[string]string // of tools, by the id of the call
	encrypted map[string]string // values, by the id of the message or call
	questions questions
	// interrupted is what was said of the answer to the last message, if the worker
	// was lost.
	interrupted interruption
}

// aguiHistoryOf returns the history of a request, and after it what earlier workers
// of the run have said. Events without content are left out, and so is thinking,
// except the agent's own.
func aguiHistoryOf(req run.Request) (*aguiHistory, error) {
	h := &aguiHistory{
		agent: req.Agent, messages: []aguiMessage{}, names: map[string]string{}, encrypted: map[string]string{},
	}
	events := slices.Concat(req.Events, req.Said)
	for _, e := range events {
		maps.Copy(h.encrypted, aguiRecordOf(e, h.agent).Encrypted)
	}
	h.questions = questionsOf(events, h.agent, threadID(req))
	for i, e := range events {
		if err := h.add(i, e); err != nil {
			return nil, fmt.Errorf("event %d of the history: %w", e.Seq, err)
		}
		h.questions.reached(i)
		if i == len(req.Events)-1 { // what was said follows
			h.closeCalls()
			h.interrupted = interruptionOf(req)
		}
	}
	h.closeCalls()
	h.askToContinue(req)
	return h, nil
}

// askToContinue asks the agent to go on with an interrupted answer. Agents take
// messages that end with their own for a conversation with nothing to do.
func (h *aguiHistory) askToContinue(req run.Request) {
	if n := len(h.messages); req.Continuation > 0 && n > 0 && h.messages[n-1].Role == aguiAssistant {
		id := fmt.Sprintf("%s:continuation:%d", req.RunID, req.Continuation)
		h.messages = append(h.messages, aguiMessage{ID: id, Role: aguiUser, Content: interruptedNote(req)})
	}
}

func (h *aguiHistory) add(event int, e session.Event) error {
	c, err := contentOf(e)
	if err != nil {
		return err
	}
	t := aguiTurn{h: h, id: cmp.Or(e.ID, strconv.FormatInt(e.Seq, 10)), record: aguiRecordOf(e, h.agent)}
	for i, raw := range c.Parts {
		p := memberOf(raw)
		switch {
		case h.questions.isAbout(event, p):
		case p.Response != nil && t.answer(i, p):
		case c.fromModel(e):
			t.fromModel(i, p, raw)
		default:
			t.fromUser(p, raw)
		}
	}
	t.end()
	return nil
}

// closeCalls answers the calls that are still open when the conversation continues,
// unless the agent waits for a person's answer to go on with them.
func (h *aguiHistory) closeCalls() {
	if h.questions.waiting {
		return
	}
	for _, call := range h.open {
		result := h.interrupted.resultOf(call)
		var problem struct{ Error string }
		_ = json.Unmarshal([]byte(result), &problem) // it is one of this package's
		h.messages = append(h.messages, aguiMessage{
			ID: call.id + ":unanswered", Role: aguiTool, ToolCallID: call.id, Content: result, Error: problem.Error,
		})
	}
	h.open = nil
}
