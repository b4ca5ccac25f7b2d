package responses_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
)

func TestRequest_passes_the_parameters_of_the_front_end_on(t *testing.T) {
	const sent = `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],
		"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],
		"instructions":"Be short.\n\nAnswer in French.",
		"tools":[{"type":"function","name":"pick","description":"d","strict":true,"parameters":{"type":"object","properties":{}}}],
		"tool_choice":{"type":"function","name":"pick"},"parallel_tool_calls":false,
		"temperature":0.5,"top_p":0.9,"presence_penalty":0.1,"frequency_penalty":0.2,"max_output_tokens":50,"truncation":"auto",
		"reasoning":{"effort":"low","summary":"auto"},
		"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}}}`
	wantRequest(t, sent, askedOfResponses(t, agentconfig.Chat{Model: "m", System: "Be short."}, agenttest.OfResponses))
}

func TestRequest_keeps_configured_parameters(t *testing.T) {
	const sent = `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],
		"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],
		"instructions":"Answer in French.",
		"tools":[{"type":"function","name":"pick","description":"d","strict":true,"parameters":{"type":"object","properties":{}}}],
		"tool_choice":"none","parallel_tool_calls":true,
		"temperature":0,"top_p":0.9,"presence_penalty":0.1,"frequency_penalty":0.2,"max_output_tokens":5,"truncation":"auto",
		"reasoning":{"effort":"high","summary":"auto"},"text":"odd"}`
	got := askedOfResponses(t, agentconfig.Chat{Model: "m", Parameters: map[string]json.RawMessage{
		"temperature": json.RawMessage(`0`), "max_output_tokens": json.RawMessage(`5`), "reasoning": json.RawMessage(`{"effort":"high"}`),
		"text": json.RawMessage(`"odd"`), "tool_choice": json.RawMessage(`"none"`), "parallel_tool_calls": json.RawMessage(`true`),
	}}, agenttest.OfResponses)
	wantRequest(t, sent, got)
}

func TestRequest_has_parameters_beside_a_configured_null(t *testing.T) {
	got := askedOfResponses(t, agentconfig.Chat{Model: "m", Parameters: map[string]json.RawMessage{
		"reasoning": json.RawMessage(`null`),
	}}, agenttest.OfResponses)
	if diff := cmp.Diff(map[string]any{"effort": "low", "summary": "auto"}, got["reasoning"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func wantRequest(t *testing.T, want string, got map[string]any) {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(want), &members); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(members, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
