package aguiconvert_test

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/rethread/rethread/shared/base/jsonpatch"
	"github.com/rethread/rethread/shared/transport/agui/aguiconvert"
)

// reader is a front end: it refuses a stream that the protocol does not allow, and
// keeps the messages and the state.
type reader struct {
	messages []map[string]any
	state    json.RawMessage
	open     map[string]bool // by kind and id
	begun    bool
	end      aguiconvert.Event
}

func newReader() *reader { return &reader{open: map[string]bool{}, state: json.RawMessage("{}")} }

func (r *reader) read(events []aguiconvert.Event) error {
	for _, e := range events {
		if err := r.take(e); err != nil {
			return fmt.Errorf("%v: %w", e, err)
		}
	}
	return nil
}

func (r *reader) take(sent aguiconvert.Event) error {
	raw, err := json.Marshal(sent)
	if err != nil {
		return err
	}
	var e map[string]any
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	kind := sent.Type()
	switch {
	case r.end != nil:
		return fmt.Errorf("after the end")
	case !r.begun && kind != "RUN_STARTED" && kind != "RUN_ERROR":
		return fmt.Errorf("before the beginning")
	}
	text := func(name string) string { s, _ := e[name].(string); return s }
	switch kind {
	case "RUN_STARTED":
		if r.begun {
			return fmt.Errorf("begun twice")
		}
		r.begun = true
	case "RUN_FINISHED":
		r.end = sent
		if len(r.open) > 0 {
			return fmt.Errorf("open: %v", r.open)
		}
	case "RUN_ERROR":
		r.end = sent
	case "TEXT_MESSAGE_START":
		r.message(text("messageId"), "assistant")
		return r.begin("text", text("messageId"))
	case "TEXT_MESSAGE_CONTENT":
		r.grow(text("messageId"), text("delta"))
		return r.inside("text", text("messageId"), text("delta"))
	case "TEXT_MESSAGE_END":
		return r.close("text", text("messageId"))
	case "REASONING_START":
		return r.begin("span", text("messageId"))
	case "REASONING_MESSAGE_START":
		r.message(text("messageId"), "reasoning")
		return r.begin("reasoning", text("messageId"))
	case "REASONING_MESSAGE_CONTENT":
		r.grow(text("messageId"), text("delta"))
		return r.inside("reasoning", text("messageId"), text("delta"))
	case "REASONING_MESSAGE_END":
		return r.close("reasoning", text("messageId"))
	case "REASONING_END":
		return r.close("span", text("messageId"))
	case "TOOL_CALL_START":
		r.call(text("toolCallId"), text("toolCallName"), text("parentMessageId"))
		return r.begin("call", text("toolCallId"))
	case "TOOL_CALL_ARGS":
		c := r.findCall(text("toolCallId"))
		c["arguments"] = c["arguments"].(string) + text("delta")
		return r.inside("call", text("toolCallId"), text("delta"))
	case "TOOL_CALL_END":
		return r.close("call", text("toolCallId"))
	case "TOOL_CALL_RESULT":
		r.messages = append(r.messages, map[string]any{
			"id": e["messageId"], "role": "tool", "toolCallId": e["toolCallId"], "content": e["content"],
		})
	case "MESSAGES_SNAPSHOT":
		r.messages = nil
		for _, m := range e["messages"].([]any) {
			m := m.(map[string]any)
			for _, c := range asList(m["toolCalls"]) {
				c := c.(map[string]any)
				f := c["function"].(map[string]any)
				c["name"], c["arguments"] = f["name"], f["arguments"]
				delete(c, "function")
			}
			r.messages = append(r.messages, m)
		}
	case "STATE_SNAPSHOT":
		r.state, err = json.Marshal(e["snapshot"])
		return err
	case "STATE_DELTA":
		patch, err := json.Marshal(e["delta"])
		if err != nil {
			return err
		}
		r.state, err = jsonpatch.Apply(r.state, patch, 1<<20)
		return err
	case "ACTIVITY_SNAPSHOT":
		m := r.message(text("messageId"), "activity")
		m["content"], m["activityType"] = e["content"], e["activityType"]
	case "CUSTOM":
	default:
		return fmt.Errorf("unknown")
	}
	return nil
}

func asList(v any) []any { l, _ := v.([]any); return l }

func (r *reader) begin(kind, id string) error {
	if r.open[kind+id] {
		return fmt.Errorf("is open")
	}
	r.open[kind+id] = true
	return nil
}

func (r *reader) inside(kind, id, delta string) error {
	if !r.open[kind+id] || delta == "" {
		return fmt.Errorf("is not open, or adds nothing")
	}
	return nil
}

func (r *reader) close(kind, id string) error {
	if !r.open[kind+id] {
		return fmt.Errorf("is not open")
	}
	delete(r.open, kind+id)
	return nil
}

// message returns the message with an id, new if there is none.
func (r *reader) message(id, role string) map[string]any {
	for _, m := range r.messages {
		if m["id"] == id {
			return m
		}
	}
	m := map[string]any{"id": id, "role": role}
	if role != "activity" {
		m["content"] = ""
	}
	r.messages = append(r.messages, m)
	return m
}

func (r *reader) grow(id, delta string) {
	m := r.message(id, "")
	before, _ := m["content"].(string)
	m["content"] = before + delta
}

func (r *reader) call(id, name, parent string) {
	if r.findCall(id) != nil {
		return
	}
	var m map[string]any
	for _, one := range r.messages {
		if one["id"] == parent {
			m = one
		}
	}
	if m == nil {
		m = map[string]any{"id": parent, "role": "assistant"}
		r.messages = append(r.messages, m)
	}
	m["toolCalls"] = append(asList(m["toolCalls"]), map[string]any{"id": id, "name": name, "arguments": ""})
}

func (r *reader) findCall(id string) map[string]any {
	for _, m := range r.messages {
		for _, c := range asList(m["toolCalls"]) {
			if c := c.(map[string]any); c["id"] == id {
				return c
			}
		}
	}
	return nil
}

// same returns how the reader's messages differ from a thread's; "" if they do not.
// White space in arguments does not count.
func (r *reader) same(want []aguiconvert.Message) string {
	raw, err := json.Marshal(want)
	if err != nil {
		return err.Error()
	}
	var list []map[string]any
	if err := json.Unmarshal(raw, &list); err != nil {
		return err.Error()
	}
	got, expected := normal(r.messages), normal(list)
	if !reflect.DeepEqual(got, expected) {
		return fmt.Sprintf("the stream gives %v, the thread is %v", got, expected)
	}
	return ""
}

func normal(messages []map[string]any) []string {
	var out []string
	for _, m := range messages {
		line := fmt.Sprint(m["id"], m["role"], m["content"], m["toolCallId"], m["activityType"])
		for _, c := range asList(m["toolCalls"]) {
			c := c.(map[string]any)
			name, args := c["name"], c["arguments"]
			if f, ok := c["function"].(map[string]any); ok {
				name, args = f["name"], f["arguments"]
			}
			var value any
			if text, _ := args.(string); json.Unmarshal([]byte(text), &value) != nil {
				value = text
			}
			line += fmt.Sprint(" ", c["id"], name, value)
		}
		out = append(out, line)
	}
	return out
}
