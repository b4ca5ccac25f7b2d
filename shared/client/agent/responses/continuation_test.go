package responses_test

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
	a := newResponses(t, agenttest.Received(t, &got, agenttest.Streams(responseStream(created, completed))), agentconfig.Chat{})
	agenttest.MustRecord(t, a, agenttest.Continued(t))
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
		output("a", `{"n":1}`), output("b", agenttest.InterruptedCall), output("l", `{"error":"the call got no response"}`),
		message("assistant", "output_text", "It is"),
	}
	if diff := cmp.Diff(want, got["input"]); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}

func TestIsNotAskedAgain(t *testing.T) {
	called := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the model was called again") })
	req := agenttest.Continued(t)
	req.Said = req.Said[:1]
	if err := newResponses(t, called, agentconfig.Chat{}).Run(t.Context(), req, func(run.Output) error { return agenttest.ErrStopped }); err != nil {
		t.Error(err)
	}
}
