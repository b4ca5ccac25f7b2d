package chat_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
)

func TestContinues(t *testing.T) {
	var got map[string]any
	a := agenttest.NewChat(t, agenttest.Received(t, &got, agenttest.Streams(agenttest.Chunks(`[DONE]`))), agentconfig.Chat{System: "Be short."})
	agenttest.MustRecord(t, a, agenttest.Continued(t))
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
		map[string]any{"role": "tool", "tool_call_id": "b", "content": agenttest.InterruptedCall},
		map[string]any{"role": "tool", "tool_call_id": "l", "content": `{"error":"the call got no response"}`},
		map[string]any{"role": "assistant", "content": "It is"},
	}
	if diff := cmp.Diff(want, messages[1:]); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestIsNotAskedAgain(t *testing.T) {
	called := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the model was called again") })
	req := agenttest.Continued(t)
	req.Said = req.Said[:1]
	if err := agenttest.NewChat(t, called, agentconfig.Chat{}).Run(t.Context(), req, func(run.Output) error { return agenttest.ErrStopped }); err != nil {
		t.Error(err)
	}
}

func TestContinuesFromNothing(t *testing.T) {
	var got map[string]any
	req := agenttest.Ask(t, "hi")
	req.Continuation = 1
	agenttest.MustRecord(t, agenttest.NewChat(t, agenttest.Received(t, &got, agenttest.Streams(agenttest.Chunks(`[DONE]`))), agentconfig.Chat{}), req)
	messages, ok := got["messages"].([]any)
	if !ok || len(messages) != 2 || !strings.Contains(messages[0].(map[string]any)["content"].(string), "before anything of it was kept") {
		t.Errorf("asked with %v", got)
	}
}
