package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
)

// aguiReader turns a stream into items.
type aguiReader struct {
	out    *producer
	redact func(string) string
	tools  map[string]bool   // of the front end, whose calls the user answers
	names  map[string]string // of tools, by the id of the call
	sent   map[string]bool   // ids of messages in the request
	thread string

	item     aguiItem
	begun    map[aguiKey]bool // parts of the whole run
	skipped  map[string]bool  // text messages of other roles
	chunked  map[string]string
	thoughts int // messages without ids
	usage    json.RawMessage

	held, heldActivities int             // bytes
	results              []aguiEvent     // of tools, while their calls are in progress
	done                 map[string]bool // calls with a result

	state      aguiState
	activities map[string]json.RawMessage
	pending    aguiRecord // what the next event keeps
	snapshot   json.RawMessage
	finished   *aguiEvent
}

func newAGUIReader(out *producer, a *AGUI, h *aguiHistory, req run.Request) *aguiReader {
	r := &aguiReader{
		out: out, redact: a.endpoint.redact, thread: threadID(req), tools: map[string]bool{}, names: maps.Clone(h.names), sent: map[string]bool{},
		begun: map[aguiKey]bool{}, skipped: map[string]bool{}, chunked: map[string]string{},
		done: map[string]bool{}, state: newAGUIState(req), activities: map[string]json.RawMessage{},
		pending: aguiRecord{Agent: req.Agent}, item: newAGUIItem(),
	}
	for _, tool := range a.frontend.Tools {
		r.tools[tool.Name] = true
	}
	for _, m := range h.messages {
		r.sent[m.ID] = true
	}
	return r
}

// readStream reads events up to RUN_FINISHED. An event may be as large as a document,
// since snapshots contain the whole conversation.
func (r *aguiReader) readStream(body io.Reader) error {
	err := readEvents(body, maxAnswer, func(_, data string) error {
		if data == "" {
			return nil
		}
		if err := r.take([]byte(data)); err != nil {
			return err
		}
		if r.finished != nil {
			return errStop
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.finish()
}

func (r *aguiReader) take(raw []byte) error {
	r.out.taken++
	var e aguiEvent
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
func (r *aguiReader) hold(kind string, size int) error {
	switch kind {
	case "CUSTOM", "REASONING_ENCRYPTED_VALUE", "TOOL_CALL_RESULT":
		r.held += size
	case "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA":
		r.heldActivities += size
	}
	if r.held+r.heldActivities > maxAnswer {
		return newError(run.CodeLimit, "the agent sent events of more than %d bytes without a message", maxAnswer)
	}
	return nil
}

// malformed returns the error for an event that breaks the protocol.
func (r *aguiReader) malformed(why string, args ...any) error {
	return r.out.malformed("an event", fault.New(fault.Malformed, why, args...))
}

// handle handles one event. Steps, raw events, the beginnings and ends of subagents,
// and events of types that are not known are ignored.
func (r *aguiReader) handle(e aguiEvent) error {
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
		r.pending.Custom = append(r.pending.Custom, aguiCustom{e.Name, e.Value})
	case "MESSAGES_SNAPSHOT":
		r.snapshot = e.Messages
	case "RUN_FINISHED":
		r.finished = &e
	case "RUN_ERROR":
		return reported(e.Code, r.redact(e.Message))
	}
	return nil
}
