package demoagent

import (
	"encoding/json"
	"errors"
	"strings"
)

// parseMessages parses a chat completion request.
func parseMessages(dec *json.Decoder) (question, error) {
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Stream bool `json:"stream"`
	}
	if err := dec.Decode(&in); err != nil {
		return question{}, err
	}
	if !in.Stream {
		return question{}, errors.New("the demo agent only supports streaming")
	}
	var q question
	for _, m := range in.Messages {
		q.response = ""
		switch m.Role {
		case "user":
			q.text = textOf(m.Content)
			q.turns++
		case "tool":
			q.response = textOf(m.Content)
		}
	}
	if q.turns == 0 {
		return q, errors.New("the request has no user message")
	}
	return q, nil
}

// textOf returns the text of a content, which is a string or a list of parts.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// chatProtocol answers with chat completion chunks. A completion is a single item and
// cannot carry state changes; both are replaced by text.
type chatProtocol struct {
	wire   *wire
	called bool
	words  int
}

func (v *chatProtocol) begin() error { return nil }

func (v *chatProtocol) delta(d map[string]any) error {
	v.words++
	return v.wire.sendJSON("", map[string]any{
		"object": "chat.completion.chunk", "model": "demo",
		"choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": nil}},
	})
}

func (v *chatProtocol) think(text string) error {
	return v.delta(map[string]any{"reasoning_content": text})
}

func (v *chatProtocol) say(text string) error { return v.delta(map[string]any{"content": text}) }

func (v *chatProtocol) call(id, name, args string) error {
	v.called = true
	function := map[string]any{"arguments": args}
	call := map[string]any{"index": 0, "function": function}
	if id != "" {
		call["id"], call["type"], function["name"] = id, "function", name
	}
	return v.delta(map[string]any{"tool_calls": []any{call}})
}

func (v *chatProtocol) state(map[string]json.RawMessage) error { return nil }

func (v *chatProtocol) malformed() error { return v.wire.send("", `{"choices":[`) }

func (v *chatProtocol) fail(code, message string) error {
	return v.wire.sendJSON("", map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func (v *chatProtocol) done() error {
	reason := "stop"
	if v.called {
		reason = "tool_calls"
	}
	err := v.wire.sendJSON("", map[string]any{
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}},
		"usage":   map[string]int{"completion_tokens": v.words},
	})
	if err != nil {
		return err
	}
	return v.wire.send("", "[DONE]")
}
