package main

import (
	"encoding/json"
	"strings"
)

// responsesItem is an item of the input of a request over the Responses API.
type responsesItem struct {
	Type    string
	Role    string
	Content []struct {
		Text     string
		ImageURL string `json:"image_url"`
		Name     string `json:"filename"`
		Data     string `json:"file_data"`
		FileURL  string `json:"file_url"`
	}
	Name   string
	Output string
}

func askedOverResponses(body []byte) (question, error) {
	var asked struct {
		Input        []responsesItem
		Instructions string
		Tools        []struct{ Name string }
		Choice       any `json:"tool_choice"`
	}
	q := question{}
	if err := json.Unmarshal(body, &asked); err != nil {
		return q, err
	}
	if err := json.Unmarshal(body, &q.More); err != nil {
		return q, err
	}
	for _, name := range []string{"input", "instructions", "tools", "tool_choice", "model", "stream", "store", "include"} {
		delete(q.More, name)
	}
	if asked.Instructions != "" {
		q.System = append(q.System, asked.Instructions)
	}
	for _, t := range asked.Tools {
		q.Tools = append(q.Tools, t.Name)
	}
	q.Choice = choiceOf(asked.Choice)
	for _, item := range asked.Input {
		q.hearItem(item)
	}
	return q, nil
}

func (q *question) hearItem(item responsesItem) {
	said := turn{Role: item.Role}
	var texts []string
	for _, p := range item.Content {
		switch {
		case p.ImageURL != "":
			said.Files = append(said.Files, file(p.ImageURL))
		case p.Data != "":
			said.Files = append(said.Files, p.Name+" "+file(p.Data))
		case p.FileURL != "":
			said.Files = append(said.Files, file(p.FileURL))
		default:
			texts = append(texts, p.Text)
		}
	}
	said.Text = strings.Join(texts, "\n")
	switch {
	case item.Type == "function_call":
		q.Turns = append(q.Turns, turn{Role: "call", Text: item.Name})
	case item.Type == "function_call_output":
		q.Turns = append(q.Turns, turn{Role: "result", Text: item.Output})
	case item.Role == "system" || item.Role == "developer":
		q.System = append(q.System, said.Text)
	case item.Role != "":
		q.Turns = append(q.Turns, said)
	}
}

// spoken is the answer of a model over the Responses API so far.
type spoken struct {
	emitter

	items []any
}

func speakResponses(e emitter, r reply) {
	s := &spoken{emitter: e}
	s.send(map[string]any{"type": "response.created", "response": map[string]any{"id": "r1", "status": "in_progress", "output": []any{}}})
	if r.thought != "" {
		s.send(map[string]any{"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": r.thought})
		s.done(map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": r.thought}}})
	}
	if len(r.pieces) > 0 {
		s.message(r)
	}
	if r.refusal != "" {
		s.done(map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "refusal", "refusal": r.refusal}}})
	}
	for _, name := range r.calls {
		s.call(name)
	}
	whole := map[string]any{"id": "r1", "status": "completed", "output": s.items, "usage": json.RawMessage(responsesUsage)}
	if r.cut {
		whole["status"], whole["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
	}
	s.send(map[string]any{"type": "response.completed", "response": whole})
}

func (s *spoken) done(item map[string]any) {
	item["id"], item["status"] = "i", "completed"
	s.send(map[string]any{"type": "response.output_item.done", "output_index": len(s.items), "item": item})
	s.items = append(s.items, item)
}

func (s *spoken) message(r reply) {
	at := len(s.items)
	s.send(map[string]any{"type": "response.output_item.added", "output_index": at, "item": map[string]any{"type": "message", "content": []any{}}})
	var text strings.Builder
	r.speak(s.emitter, func(piece string) {
		text.WriteString(piece)
		s.send(map[string]any{"type": "response.output_text.delta", "output_index": at, "content_index": 0, "delta": piece})
	})
	part := map[string]any{"type": "output_text", "text": text.String()}
	s.done(map[string]any{"type": "message", "role": "assistant", "content": []any{part}})
}

func (s *spoken) call(name string) {
	at, id := len(s.items), s.nextCall()
	begun := map[string]any{"type": "function_call", "call_id": id, "name": name, "arguments": ""}
	s.send(map[string]any{"type": "response.output_item.added", "output_index": at, "item": begun})
	half := len(callArguments) / 2
	for _, args := range []string{callArguments[:half], callArguments[half:]} {
		s.send(map[string]any{"type": "response.function_call_arguments.delta", "output_index": at, "delta": args})
	}
	s.done(map[string]any{"type": "function_call", "call_id": id, "name": name, "arguments": callArguments})
}
