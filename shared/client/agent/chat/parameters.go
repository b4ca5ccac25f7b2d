package chat

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// function returns a front end's tool in the form of chat completions.
func function(t run.FrontEndTool) any { return map[string]any{"type": "function", "function": t} }

// form returns a parameter of the Responses API in the form of chat completions; nil for
// one that asks for nothing.
func form(name string, value json.RawMessage) any {
	if !jsonx.IsObject(value) {
		return value
	}
	switch name {
	case "tool_choice":
		return toolChoice(value)
	case "text.format":
		return responseFormat(value)
	}
	return value
}

// responseFormat moves the members of a schema's format into an object.
func responseFormat(raw json.RawMessage) any {
	var format struct{ Type string }
	rest, err := jsonx.MembersBut(raw, "type")
	switch {
	case err != nil || json.Unmarshal(raw, &format) != nil || format.Type == "text":
		return nil
	case format.Type == "json_schema":
		return map[string]any{"type": format.Type, format.Type: rest}
	}
	return raw
}

// chosenTool is a function in a tool choice of the Responses API.
type chosenTool struct {
	Type  string       `json:"type"`
	Name  string       `json:"name"`
	Mode  string       `json:"mode"`
	Tools []chosenTool `json:"tools"`
}

func toolChoice(raw json.RawMessage) any {
	var choice chosenTool
	if json.Unmarshal(raw, &choice) != nil {
		return nil
	}
	switch choice.Type {
	case "function":
		return chosen(choice)
	case "allowed_tools":
		tools := make([]any, len(choice.Tools))
		for i, t := range choice.Tools {
			tools[i] = chosen(t)
		}
		return map[string]any{"type": choice.Type, choice.Type: map[string]any{"mode": choice.Mode, "tools": tools}}
	}
	return raw
}

func chosen(t chosenTool) any {
	return map[string]any{"type": "function", "function": map[string]string{"name": t.Name}}
}
