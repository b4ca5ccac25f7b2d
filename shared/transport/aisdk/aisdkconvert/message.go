package aisdkconvert

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Message is a UIMessage.
type Message struct {
	ID    string  `json:"id"`
	Role  string  `json:"role"`
	Parts []Chunk `json:"parts"`
}

// Roles of messages.
const (
	user      = "user"
	assistant = "assistant"
)

// Messages returns the messages of a session's effective events. The output of the run
// in progress is left out, since the stream of that run has it; "" for none.
func Messages(events []session.Event, inProgress string) []Message {
	var out []Message
	s := newStream(conversation.NewGrowth(conversation.History{}, nil, nil))
	v := s.View
	s.asked = asked(events, inProgress)
	for _, t := range conversation.Turns(events) {
		var said []Message
		for _, e := range t.Inputs {
			for _, p := range v.Pieces(e) {
				if p.Kind == conversation.PieceResponse {
					answer(out, output(p.CallID, p.Value))
				}
			}
			said = append(said, userMessages(e, v.Pieces(e))...)
		}
		out = append(out, said...)
		if t.Invocation == inProgress || len(t.Outputs) == 0 {
			for _, e := range t.Outputs {
				v.Pieces(e)
			}
			continue
		}
		if n := len(out); n == 0 || out[n-1].ID != t.Answer {
			out = append(out, Message{ID: t.Answer, Role: assistant, Parts: []Chunk{}})
			s.calls = map[string]bool{}
		}
		m := &out[len(out)-1]
		for _, c := range s.whole(t) {
			m.Apply(c)
		}
	}
	return out
}

// answer applies the output of a call to the message that has the call.
func answer(messages []Message, c Chunk) {
	for i := range slices.Backward(messages) {
		if messages[i].find("toolCallId", c.text("toolCallId")) >= 0 {
			messages[i].Apply(c)
			return
		}
	}
}

// userMessages returns the message of a user's input; none for one that only answers
// calls.
func userMessages(e session.Event, pieces []conversation.Piece) []Message {
	m := Message{ID: conversation.GivenID(e), Role: user}
	for _, p := range pieces {
		switch p.Kind {
		case conversation.PieceText:
			m.Parts = append(m.Parts, Chunk{"type": "text", "text": p.Text})
		case conversation.PieceFile:
			file := Chunk{"type": "file", "url": p.Address(), "mediaType": mediaType(p)}
			if p.Filename != "" {
				file["filename"] = p.Filename
			}
			m.Parts = append(m.Parts, file)
		case conversation.PieceThought, conversation.PieceCall, conversation.PieceResponse, conversation.PieceOther:
		}
	}
	if len(m.Parts) == 0 {
		return nil
	}
	return []Message{m}
}

// find returns the index of the last part with a member; -1 without one.
func (m *Message) find(name, value string) int {
	for i := range slices.Backward(m.Parts) {
		if m.Parts[i].text(name) == value {
			return i
		}
	}
	return -1
}

// streamID is the member of a part in progress with the id of its text. It is not part
// of the message.
const streamID = "\x00id"

// Apply changes the message by a chunk, as the SDK does.
func (m *Message) Apply(c Chunk) {
	switch c.Type() {
	case "start":
		m.ID, m.Role = c.text("messageId"), assistant
		if m.Parts == nil {
			m.Parts = []Chunk{}
		}
	case "start-step":
		m.Parts = append(m.Parts, Chunk{"type": "step-start"})
	case "reset-step":
		m.Parts = m.Parts[:m.find("type", "step-start")+1]
	case "text-start":
		m.Parts = append(m.Parts, Chunk{"type": "text", "text": "", "state": "streaming", streamID: c.text("id")})
	case "reasoning-start":
		m.Parts = append(m.Parts, Chunk{"type": "reasoning", "id": c["id"], "text": "", "state": "streaming", streamID: c.text("id")})
	case "text-delta", "reasoning-delta":
		p := m.Parts[m.find(streamID, c.text("id"))]
		p["text"] = p.text("text") + c.text("delta")
	case "text-end", "reasoning-end":
		p := m.Parts[m.find(streamID, c.text("id"))]
		p["state"] = "done"
		delete(p, streamID)
	case "file":
		m.Parts = append(m.Parts, maps.Clone(c))
	case "tool-input-start":
		m.Parts = append(m.Parts, Chunk{
			"type": "dynamic-tool", "toolName": c["toolName"], "toolCallId": c["toolCallId"], "state": "input-streaming",
		})
	case "tool-input-available", "tool-input-error", "tool-output-available", "tool-output-error":
		m.applyTool(c)
	case DataArtifacts, DataPart:
		m.Parts = append(m.Parts, maps.Clone(c))
	}
}

// applyTool changes the part of a call.
func (m *Message) applyTool(c Chunk) {
	p := m.Parts[m.find("toolCallId", c.text("toolCallId"))]
	p["state"] = map[string]string{
		"tool-input-available": "input-available", "tool-output-available": "output-available",
	}[c.Type()]
	if p["state"] == "" {
		p["state"] = "output-error"
	}
	delete(p, "output")
	delete(p, "errorText")
	for _, name := range []string{"input", "output", "errorText", "providerExecuted"} {
		if value, ok := c[name]; ok {
			p[name] = value
		}
	}
	if p["providerExecuted"] == false {
		delete(p, "providerExecuted")
	}
	if raw, ok := p["input"].(json.RawMessage); ok && len(raw) == 0 {
		delete(p, "input")
	}
}
