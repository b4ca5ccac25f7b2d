package chat

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// messageContent is the content of a message: a string or a list of parts, as some
// providers send it.
type messageContent struct {
	text    string
	thought string
	refusal string
	others  []json.RawMessage // parts of unknown types
}

// listPart is a part of a list. Mistral's thinking is a list of text parts.
type listPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	Thinking json.RawMessage `json:"thinking"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *messageContent) UnmarshalJSON(raw []byte) error {
	*c = messageContent{}
	if jsonx.IsNull(raw) {
		return nil
	}
	if raw[0] != '[' {
		return json.Unmarshal(raw, &c.text)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, part := range parts {
		if err := c.add(part); err != nil {
			return err
		}
	}
	return nil
}

func (c *messageContent) add(raw json.RawMessage) error {
	var p listPart
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	switch p.Type {
	case "text", "output_text":
		c.text += p.Text
	case "refusal":
		c.refusal += p.Refusal
	case "thinking":
		var thinking messageContent
		if err := json.Unmarshal(p.Thinking, &thinking); err != nil {
			return err
		}
		c.thought += thinking.text
	default:
		c.others = append(c.others, raw)
	}
	return nil
}
