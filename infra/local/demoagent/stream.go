package demoagent

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/rethread/rethread/shared/domain/content"
)

// parseEvents parses a request of the agent protocol.
func parseEvents(dec *json.Decoder) (question, error) {
	var in struct {
		Events []struct {
			Author  string          `json:"author"`
			Content json.RawMessage `json:"content"`
		} `json:"events"`
	}
	if err := dec.Decode(&in); err != nil {
		return question{}, err
	}
	var q question
	for _, e := range in.Events {
		said, _ := content.Parse(e.Content)
		if q.response = ""; e.Author != "user" && said.Role != "user" {
			continue
		}
		var texts []string
		for _, p := range said.Parts {
			if p.Response != nil {
				q.response = string(p.Response.Response)
			} else if p.Text != nil && *p.Text != "" {
				texts = append(texts, *p.Text)
			}
		}
		if len(texts) > 0 {
			q.text = strings.Join(texts, "\n")
			q.turns++
		}
	}
	if q.turns == 0 && q.response == "" {
		return q, errors.New("no user event has text")
	}
	return q, nil
}

// agentProtocol answers in the agent protocol. Parts begin in order; a part
// continues as long as its kind stays the same.
type agentProtocol struct {
	wire *wire
	part int
	kind string // of the current part, "" before the first
}

func (v *agentProtocol) begin() error {
	v.part, v.kind = 0, ""
	return v.wire.send("item", `{"author":"demo","role":"model"}`)
}

func (v *agentProtocol) append(kind string, d content.Delta) error {
	if v.kind != kind && v.kind != "" {
		v.part++
	}
	v.kind, d.Part = kind, v.part
	return v.wire.sendJSON("delta", d)
}

func (v *agentProtocol) think(text string) error {
	return v.append("thought", content.Delta{Thought: true, Text: text})
}

func (v *agentProtocol) say(text string) error { return v.append("text", content.Delta{Text: text}) }

func (v *agentProtocol) call(id, name, args string) error {
	return v.append("call", content.Delta{Call: &content.CallDelta{ID: id, Name: name, ArgsText: args}})
}

// state completes the item with a state change.
func (v *agentProtocol) state(delta map[string]json.RawMessage) error {
	return v.wire.sendJSON("event", map[string]any{"actions": map[string]any{"state_delta": delta}})
}

func (v *agentProtocol) malformed() error { return v.wire.send("delta", `{"part":0,"text":`) }

func (v *agentProtocol) fail(code, message string) error {
	return v.wire.sendJSON("error", map[string]string{"code": code, "message": message})
}

func (v *agentProtocol) done() error { return v.wire.send("done", "{}") }
