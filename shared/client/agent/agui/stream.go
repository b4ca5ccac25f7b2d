package agui

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/domain/run"
)

// reader turns a stream into items.
type reader struct {
	out    *output.Producer
	redact func(string) string
	tools  map[string]bool   // of the front end, whose calls the user answers
	names  map[string]string // of tools, by the id of the call
	sent   map[string]bool   // ids of messages in the request
	thread string

	item     item
	begun    map[partKey]bool // parts of the whole run
	skipped  map[string]bool  // text messages of other roles
	chunked  map[string]string
	thoughts int // messages without ids
	usage    json.RawMessage

	held, heldActivities int             // bytes
	results              []event         // of tools, while their calls are in progress
	done                 map[string]bool // calls with a result

	state      state
	activities map[string]json.RawMessage
	pending    record // what the next event keeps
	snapshot   json.RawMessage
	finished   *event
}

func newReader(out *output.Producer, a *Agent, h *history, req run.Request) *reader {
	r := &reader{
		out: out, redact: a.endpoint.Redact, thread: threadID(req), tools: map[string]bool{}, names: maps.Clone(h.names), sent: map[string]bool{},
		begun: map[partKey]bool{}, skipped: map[string]bool{}, chunked: map[string]string{},
		done: map[string]bool{}, state: newState(req), activities: map[string]json.RawMessage{},
		pending: record{Agent: req.Agent}, item: newItem(),
	}
	for _, tool := range a.frontend.Tools {
		r.tools[tool.Name] = true
	}
	offered, _ := a.offered(req.FrontEnd())
	for _, tool := range offered {
		r.tools[tool.Name] = true
	}
	for _, m := range h.messages {
		r.sent[m.ID] = true
	}
	return r
}

// ReadStream reads events up to RUN_FINISHED. An event may be as large as a document,
// since snapshots contain the whole conversation.
func (r *reader) readStream(body io.Reader) error {
	err := endpoint.ReadEvents(body, endpoint.MaxAnswer, func(_, data string) error {
		if data == "" {
			return nil
		}
		if err := r.take([]byte(data)); err != nil {
			return err
		}
		if r.finished != nil {
			return endpoint.ErrStop
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.finish()
}

func (r *reader) take(raw []byte) error {
	r.out.Next()
	var e event
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return r.malformed("must be an object")
	}
	if json.Unmarshal(raw, &e) != nil || e.Type == "" {
		return r.malformed("must have members of the types that AG-UI has")
	}
	if err := r.hold(e.Type, len(raw)); err != nil {
		return err
	}
	return r.handle(e)
}

// hold counts the bytes of an event that is kept in memory until another one is
// emitted. Activities, which change later, count for the whole run.
func (r *reader) hold(kind string, size int) error {
	switch kind {
	case "CUSTOM", "REASONING_ENCRYPTED_VALUE", "TOOL_CALL_RESULT":
		r.held += size
	case "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA":
		r.heldActivities += size
	}
	if r.held+r.heldActivities > endpoint.MaxAnswer {
		return endpoint.NewError(run.CodeLimit, "the agent sent events of more than %d bytes without a message", endpoint.MaxAnswer)
	}
	return nil
}

// malformed returns the error for an event that breaks the protocol.
func (r *reader) malformed(why string, args ...any) error {
	return r.out.Malformed("an event", fault.New(fault.Malformed, why, args...))
}

// handle handles one event. Steps, raw events, the beginnings and ends of subagents,
// and events of types that are not known are ignored.
func (r *reader) handle(e event) error {
	switch e.Type {
	case "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TEXT_MESSAGE_CHUNK":
		return r.text(e)
	case "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END",
		"REASONING_MESSAGE_CHUNK", "REASONING_ENCRYPTED_VALUE",
		"THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_END":
		return r.reasoning(e)
	case "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_CHUNK":
		return r.call(e)
	case "TOOL_CALL_RESULT":
		return r.result(e)
	case "STATE_SNAPSHOT", "STATE_DELTA":
		return r.changeState(e)
	case "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA":
		return r.activity(e)
	case "CUSTOM":
		r.pending.Custom = append(r.pending.Custom, custom{e.Name, e.Value})
	case "MESSAGES_SNAPSHOT":
		r.snapshot = e.Messages
	case "RUN_FINISHED":
		r.finished = &e
	case "RUN_ERROR":
		return endpoint.Reported(e.Code, r.redact(e.Message))
	}
	return nil
}
