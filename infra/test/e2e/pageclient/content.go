package pageclient

import (
	"encoding/json"
	"errors"
	"fmt"
)

// errDelta means that a delta does not continue the content.
var errDelta = errors.New("a delta that continues nothing")

// delta is an addition to one part of an item's content.
type delta struct {
	Part    int     `json:"part"`
	Text    *string `json:"text"`
	Thought bool    `json:"thought"`
	Call    *struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		ArgsText string `json:"args_text"`
	} `json:"function_call"`
}

// grow appends a delta to the item's content.
func (it *Item) grow(raw json.RawMessage) error {
	var d delta
	if err := json.Unmarshal(raw, &d); err != nil {
		return fmt.Errorf("read a delta: %w", err)
	}
	content, ok := it.Event["content"].(map[string]any)
	if !ok {
		content = map[string]any{}
		it.Event["content"] = content
	}
	parts, _ := content["parts"].([]any)
	switch {
	case d.Part == len(parts):
		content["parts"] = append(parts, d.begun())
		return nil
	case d.Part > len(parts):
		return errDelta
	}
	part, ok := parts[d.Part].(map[string]any)
	if !ok {
		return errDelta
	}
	return d.continues(part)
}

// begun is the new part that a delta begins.
func (d delta) begun() map[string]any {
	if d.Call == nil {
		part := map[string]any{"text": *d.Text}
		if d.Thought {
			part["thought"] = true
		}
		return part
	}
	call := map[string]any{"name": d.Call.Name, "args_text": d.Call.ArgsText}
	if d.Call.ID != "" {
		call["id"] = d.Call.ID
	}
	return map[string]any{"function_call": call}
}

func (d delta) continues(part map[string]any) error {
	at, name, more := part, "text", ""
	if d.Call != nil {
		at, _ = part["function_call"].(map[string]any)
		name, more = "args_text", d.Call.ArgsText
	} else if d.Text != nil {
		more = *d.Text
	}
	text, ok := at[name].(string)
	if !ok {
		return errDelta
	}
	at[name] = text + more
	return nil
}
