package script

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// answer answers an input: by the scenario that its A2A message id names, or by
// its first word.
func answer(s *speaker, in event) {
	play := scenarioOf(in.A2A.MessageID)
	if play == nil {
		play = func(s *speaker) bool { return command(s, in) }
	}
	if play(s) {
		s.send("done", map[string]any{})
	}
}

// command carries out the first word of a text; false if the answer ends without
// "done".
func command(s *speaker, in event) bool {
	if got := response(in); got != nil {
		raw, _ := json.Marshal(got["response"]) // it was JSON
		s.say("You decided: ", string(raw))
		return true
	}
	word, _, _ := strings.Cut(text(in), " ")
	switch word {
	case "endless":
		s.endless()
	case "ask": // a call that the caller has to answer
		s.say("I need ", "your consent.")
		s.parts(map[string]any{"long_running_tool_ids": []string{"call-1"}}, map[string]any{
			"function_call": map[string]any{"id": "call-1", "name": "confirm", "args": map[string]any{"amount": 9007199254740993}},
		})
	case "file":
		s.parts(nil,
			map[string]any{"inline_data": map[string]any{"mime_type": "image/png", "display_name": "dot.png", "data": "iVBORw0KGgo="}},
			map[string]any{"text": `{"n":1}`, "data": map[string]any{"n": 1}})
	case "think":
		s.send("item", map[string]any{})
		s.send("delta", map[string]any{"part": 0, "thought": true, "text": "Hm."})
		s.send("delta", map[string]any{"part": 1, "text": "Yes."})
	case "fail":
		s.say("This goes well, ")
		s.send("error", map[string]any{"message": "I was asked to fail.", "code": "scripted"})
		return false
	case "reject":
		s.send("error", map[string]any{"message": "I was asked to refuse.", "code": "rejected"})
		return false
	case "message": // the answer is a message instead of a task
		s.parts(map[string]any{"a2a_reply": "message"}, map[string]any{"text": "Only a message."})
	default:
		s.say("You said: ", fmt.Sprintf("%q.", text(in)), " That", " is", " all.")
	}
	return true
}

// scenarioOf returns what the A2A TCK expects for a message id of a prefix of its
// own; nil for any other id.
func scenarioOf(id string) func(*speaker) bool {
	reply := func(text string) func(*speaker) bool {
		return func(s *speaker) bool { s.say(text); return true }
	}
	one := func(more map[string]any, part map[string]any) func(*speaker) bool {
		return func(s *speaker) bool { s.parts(more, part); return true }
	}
	asks := one(nil, map[string]any{"function_call": map[string]any{"id": "c", "name": "ask", "args": map[string]any{}}})
	file := map[string]any{"inline_data": map[string]any{"mime_type": "text/plain", "display_name": "output.txt", "data": "b3V0cHV0"}}
	for _, scenario := range []struct {
		prefix string
		play   func(*speaker) bool
	}{ // longer prefixes first
		{"tck-stream-artifact-chunked", func(s *speaker) bool { s.say("chunk-1 ", "chunk-2"); return true }},
		{"tck-stream-artifact-file", one(nil, file)},
		{"tck-stream-artifact-text", reply("Streamed text content")},
		{"tck-stream-ordering-001", reply("Ordered output")},
		{"tck-stream-001", reply("Stream hello from TCK")},
		{"tck-stream-002", reply("Completed")},
		{"tck-stream-003", reply("Stream task lifecycle")},
		{"tck-complete-task", reply("Hello from TCK")},
		{"tck-artifact-text", reply("Generated text content")},
		{"tck-artifact-file-url", one(nil, map[string]any{"file_data": map[string]any{
			"mime_type": "text/plain", "display_name": "output.txt", "file_uri": "https://example.com/output.txt",
		}})},
		{"tck-artifact-file", one(nil, file)},
		{"tck-artifact-data", one(nil, map[string]any{
			"text": `{"key":"value","count":42}`, "data": map[string]any{"key": "value", "count": 42},
		})},
		{"tck-message-response", one(map[string]any{"a2a_reply": "message"}, map[string]any{"text": "Direct message response"})},
		{"tck-input-required", asks},
		{"test-history-", asks}, // this and the next three are those of 0.3
		{"mapping-test-", asks},
		{"cancel-test-", asks},
		{"text-", asks},
		{"tck-reject-task", func(s *speaker) bool {
			s.send("error", map[string]any{"message": "rejected", "code": "rejected"})
			return false
		}},
		{"test-resubscribe-message-id", func(s *speaker) bool { s.say("Still at work."); return s.wait(4 * time.Second) }},
	} {
		if strings.HasPrefix(id, scenario.prefix) {
			return scenario.play
		}
	}
	return nil
}
