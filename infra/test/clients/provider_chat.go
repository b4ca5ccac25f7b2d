package main

import (
	"encoding/json"
)

// chatMessage is a message of a request over chat completions.
type chatMessage struct {
	Role      string
	Content   chatContent
	ToolCalls []struct {
		Function struct{ Name string }
	} `json:"tool_calls"`
}

// chatContent is a text or a list of parts.
type chatContent struct {
	text  string
	files []string
}

func (c *chatContent) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &c.text) == nil {
		return nil
	}
	var parts []struct {
		Text     string
		ImageURL struct{ URL string } `json:"image_url"`
		File     struct {
			Name string `json:"filename"`
			Data string `json:"file_data"`
		}
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		switch {
		case p.ImageURL.URL != "":
			c.files = append(c.files, file(p.ImageURL.URL))
		case p.File.Data != "":
			c.files = append(c.files, p.File.Name+" "+file(p.File.Data))
		case c.text == "":
			c.text = p.Text
		default:
			c.text += "\n" + p.Text
		}
	}
	return nil
}

func askedOverChat(body []byte) (question, error) {
	var asked struct {
		Messages []chatMessage
		Tools    []struct{ Function struct{ Name string } }
		Choice   any `json:"tool_choice"`
	}
	q := question{}
	if err := json.Unmarshal(body, &asked); err != nil {
		return q, err
	}
	if err := json.Unmarshal(body, &q.More); err != nil {
		return q, err
	}
	for _, name := range []string{"messages", "tools", "tool_choice", "model", "stream", "stream_options"} {
		delete(q.More, name)
	}
	for _, t := range asked.Tools {
		q.Tools = append(q.Tools, t.Function.Name)
	}
	q.Choice = choiceOf(asked.Choice)
	for _, m := range asked.Messages {
		q.hear(m)
	}
	return q, nil
}

func (q *question) hear(m chatMessage) {
	switch m.Role {
	case "system":
		q.System = append(q.System, m.Content.text)
	case "tool":
		q.Turns = append(q.Turns, turn{Role: "result", Text: m.Content.text})
	default:
		if m.Content.text != "" || len(m.Content.files) > 0 {
			q.Turns = append(q.Turns, turn{m.Role, m.Content.text, m.Content.files})
		}
		for _, c := range m.ToolCalls {
			q.Turns = append(q.Turns, turn{Role: "call", Text: c.Function.Name})
		}
	}
}

// choiceOf returns the tool choice of either API: a word, or the name of a function.
func choiceOf(choice any) string {
	switch c := choice.(type) {
	case string:
		return c
	case map[string]any:
		if function, ok := c["function"].(map[string]any); ok {
			return choiceOf(function["name"])
		}
		return choiceOf(c["name"])
	}
	return ""
}

func speakChat(e emitter, r reply) {
	choice := func(delta map[string]any) {
		e.send(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta}}})
	}
	if r.thought != "" {
		choice(map[string]any{"reasoning_content": r.thought})
	}
	r.speak(e, func(piece string) { choice(map[string]any{"role": "assistant", "content": piece}) })
	if r.refusal != "" {
		choice(map[string]any{"refusal": r.refusal})
	}
	half := len(callArguments) / 2
	for i, name := range r.calls {
		for j, args := range []string{"", callArguments[:half], callArguments[half:]} {
			call := map[string]any{"index": i, "function": map[string]any{"arguments": args}}
			if j == 0 {
				call = map[string]any{"index": i, "id": e.nextCall(), "type": "function", "function": map[string]any{"name": name, "arguments": ""}}
			}
			choice(map[string]any{"tool_calls": []any{call}})
		}
	}
	reason := "stop"
	switch {
	case r.cut:
		reason = "length"
	case len(r.calls) > 0:
		reason = "tool_calls"
	}
	e.raw(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
	e.raw(`{"choices":[],"usage":` + chatUsage + `}`)
	e.raw("[DONE]")
}
