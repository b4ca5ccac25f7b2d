package chat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// What a run said that was kept is followed by what the model must know of its end.
func TestTellsOfAnInterruptedAnswer(t *testing.T) {
	var got map[string]any
	a := agenttest.NewChat(t, agenttest.Received(t, &got, agenttest.Streams(agenttest.Chunks(`[DONE]`))), agentconfig.Chat{})
	said := func(raw string, status session.EventStatus) session.Event {
		e := agenttest.Event(t, raw)
		e.Status = status
		return e
	}
	req := agenttest.Ask(t, "and now?")
	req.Events = run.WithInterruptions(append([]session.Event{
		said(`{"id":"1","invocation_id":"run-0","author":"user","content":{"role":"user","parts":[{"text":"hi"}]}}`, session.EventCompleted),
		said(`{"id":"2","invocation_id":"run-0","author":"helper","content":{"role":"model","parts":[{"function_call":{"id":"c","name":"look","args":{}}}]}}`, session.EventCompleted),
		said(`{"id":"3","invocation_id":"run-0","author":"helper","content":{"role":"model","parts":[{"text":"It"}]},"error":{"code":"cancelled","message":"m"}}`, session.EventFailed),
	}, req.Events...))
	agenttest.MustRecord(t, a, req)
	want := []any{
		map[string]any{"role": "user", "content": "hi"},
		map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"id": "c", "type": "function", "function": map[string]any{"name": "look", "arguments": "{}"},
		}}},
		map[string]any{"role": "tool", "tool_call_id": "c", "content": agenttest.InterruptedCall},
		map[string]any{"role": "assistant", "content": "It"},
		map[string]any{"role": "user", "content": "[The answer was interrupted here: it was cancelled.]"},
		map[string]any{"role": "user", "content": "and now?"},
	}
	if diff := cmp.Diff(want, got["messages"]); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
