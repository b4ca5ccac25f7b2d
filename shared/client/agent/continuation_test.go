package agent_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

const interruptedCall = `{"error":"the call was interrupted: it may or may not have been carried out, and its result is unknown"}`

// continued is a request to continue a run whose answer was interrupted: the call a
// has a response, b has none, and l is long-running.
func continued(t *testing.T) run.Request {
	t.Helper()
	req := ask(t, "hi")
	req.Continuation = 2
	event := func(raw string, status session.EventStatus) session.Event {
		e := mustEvent(t, raw)
		e.Status = status
		return e
	}
	req.Said = []session.Event{
		event(`{"id":"1","invocation_id":"run-1","author":"helper","long_running_tool_ids":["l"],"content":{"role":"model","parts":[`+
			`{"function_call":{"id":"a","name":"look","args":{}}},{"function_call":{"id":"b","name":"send","args":{"to":"bob"}}},`+
			`{"function_call":{"id":"l","name":"ask","args":{}}}]}}`, session.EventCompleted),
		event(`{"id":"2","invocation_id":"run-1","author":"helper","content":{"role":"user","parts":[`+
			`{"function_response":{"id":"a","name":"look","response":{"n":1}}}]}}`, session.EventCompleted),
		event(`{"id":"3","invocation_id":"run-1","author":"helper","content":{"role":"model","parts":[{"text":"It is"}]},`+
			`"error":{"code":"interrupted","message":"the worker was lost; the run continues"}}`, session.EventFailed),
	}
	return req
}

// received returns a server that keeps the body of a request, and answers.
func received(t *testing.T, into *map[string]any, answer http.HandlerFunc) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(into); err != nil {
			t.Error(err)
		}
		answer(rw, r)
	})
}

func TestContinuationIsTold(t *testing.T) {
	t.Run("to an agent", func(t *testing.T) {
		var got map[string]any
		mustRecord(t, newHTTP(t, received(t, &got, streams(fine))), continued(t))
		if got["continuation"] != 2.0 || len(got["events"].([]any)) != 1 {
			t.Errorf("got %v", got)
		}
		if diff := cmp.Diff([]any{"b"}, got["unanswered_tool_calls"]); diff != "" {
			t.Errorf("unanswered (-want +got):\n%s", diff)
		}
		var said []string
		for _, e := range got["said"].([]any) {
			e, ok := e.(map[string]any)
			if !ok {
				t.Fatalf("said %v", got["said"])
			}
			said = append(said, e["id"].(string)+" "+e["status"].(string))
		}
		if diff := cmp.Diff([]string{"1 completed", "2 completed", "3 failed"}, said); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	})
	t.Run("to a model by chat completions", func(t *testing.T) {
		var got map[string]any
		a := newChat(t, received(t, &got, streams(chunks(`[DONE]`))), agent.Chat{System: "Be short."})
		mustRecord(t, a, continued(t))
		call := func(id, name, args string) any {
			return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": args}}
		}
		messages, ok := got["messages"].([]any)
		if !ok || !strings.Contains(messages[0].(map[string]any)["content"].(string), "Be short.\n\nYour answer to the last message was interrupted.") {
			t.Fatalf("asked with %v", got)
		}
		want := []any{
			map[string]any{"role": "user", "content": "hi"},
			map[string]any{"role": "assistant", "tool_calls": []any{call("a", "look", "{}"), call("b", "send", `{"to":"bob"}`), call("l", "ask", "{}")}},
			map[string]any{"role": "tool", "tool_call_id": "a", "content": `{"n":1}`},
			map[string]any{"role": "tool", "tool_call_id": "b", "content": interruptedCall},
			map[string]any{"role": "tool", "tool_call_id": "l", "content": `{"error":"the call got no response"}`},
			map[string]any{"role": "assistant", "content": "It is"},
		}
		if diff := cmp.Diff(want, messages[1:]); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
	t.Run("to a model by the Responses API", func(t *testing.T) {
		var got map[string]any
		a := newResponses(t, received(t, &got, streams(responseStream(created, completed))), agent.Chat{})
		mustRecord(t, a, continued(t))
		if text, ok := got["instructions"].(string); !ok || !strings.HasPrefix(text, "Your answer to the last message was interrupted.") {
			t.Errorf("instructions %v", got["instructions"])
		}
		call := func(id, name, args string) any {
			return map[string]any{"type": "function_call", "call_id": id, "name": name, "arguments": args}
		}
		output := func(id, text string) any {
			return map[string]any{"type": "function_call_output", "call_id": id, "output": text}
		}
		message := func(role, kind, text string) any {
			return map[string]any{"type": "message", "role": role, "content": []any{map[string]any{"type": kind, "text": text}}}
		}
		want := []any{
			message("user", "input_text", "hi"),
			call("a", "look", "{}"), call("b", "send", `{"to":"bob"}`), call("l", "ask", "{}"),
			output("a", `{"n":1}`), output("b", interruptedCall), output("l", `{"error":"the call got no response"}`),
			message("assistant", "output_text", "It is"),
		}
		if diff := cmp.Diff(want, got["input"]); diff != "" {
			t.Errorf("input (-want +got):\n%s", diff)
		}
	})
	t.Run("not to a model whose answer is complete", func(t *testing.T) {
		called := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the model was called again") })
		req := continued(t)
		req.Said = req.Said[:1]
		for _, a := range []run.Agent{newChat(t, called, agent.Chat{}), newResponses(t, called, agent.Chat{})} {
			if err := a.Run(t.Context(), req, func(run.Output) error { return errStopped }); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("to a model of whose answer nothing was kept", func(t *testing.T) {
		var got map[string]any
		req := ask(t, "hi")
		req.Continuation = 1
		mustRecord(t, newChat(t, received(t, &got, streams(chunks(`[DONE]`))), agent.Chat{}), req)
		messages, ok := got["messages"].([]any)
		if !ok || len(messages) != 2 || !strings.Contains(messages[0].(map[string]any)["content"].(string), "before anything of it was kept") {
			t.Errorf("asked with %v", got)
		}
	})
}

func TestContinuations(t *testing.T) {
	d := mustConfig(t, `{"x":{"type":"http","url":"http://h","max_continuations":3},`+
		`"m":{"type":"chat_completions","url":"http://h","model":"gpt","max_continuations":10},`+
		`"r":{"type":"responses","url":"http://h","model":"gpt","max_continuations":1},"y":{"type":"http","url":"http://h"}}`, nil)
	for name, want := range map[string]int{"x": 3, "m": 10, "r": 1, "y": 0} {
		if got := run.ContinuationsOf(d[name]); got != want {
			t.Errorf("a run of agent %q may be continued %d times, want %d", name, got, want)
		}
	}
}
