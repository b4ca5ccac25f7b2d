package chat_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
)

func TestRequest_passes_the_parameters_of_the_front_end_on(t *testing.T) {
	got := asked(t, agentconfig.Chat{Model: "m", System: "Be short."}, agenttest.OfResponses)
	want := map[string]any{
		"model": "m", "stream": true, "stream_options": map[string]any{"include_usage": true},
		"temperature": 0.5, "top_p": 0.9, "presence_penalty": 0.1, "frequency_penalty": 0.2, "max_completion_tokens": 50.0,
		"reasoning_effort": "low", "verbosity": "low", "parallel_tool_calls": false,
		"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": "n", "schema": map[string]any{"type": "object"}, "strict": true,
		}},
		"tool_choice": map[string]any{"type": "function", "function": map[string]any{"name": "pick"}},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "pick", "description": "d", "strict": true, "parameters": map[string]any{"type": "object", "properties": map[string]any{}},
		}}},
		"messages": []any{
			map[string]any{"role": "system", "content": "Be short.\n\nAnswer in French."},
			map[string]any{"role": "user", "content": "hi"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRequest_keeps_configured_parameters(t *testing.T) {
	configured := map[string]json.RawMessage{}
	for _, name := range []string{
		"temperature", "top_p", "presence_penalty", "frequency_penalty", "max_tokens", "reasoning_effort", "verbosity",
		"parallel_tool_calls", "response_format", "tool_choice",
	} {
		configured[name] = json.RawMessage(`"fixed"`)
	}
	got := asked(t, agentconfig.Chat{Model: "m", Parameters: configured}, agenttest.OfResponses)
	for name := range configured {
		if got[name] != "fixed" {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	if n := len(got); n != len(configured)+5 { // model, messages, stream, stream_options, tools
		t.Errorf("%d members: %v", n, got)
	}
}

// sending returns the input of a run with members of its front end.
func sending(members string) string {
	return `{"invocation_id":"run-1","author":"user","content":{"role":"user","parts":[{"text":"hi"}]},"ag_ui_input":{` + members + `}}`
}

func TestRequest_has_members_that_no_front_end_can_set(t *testing.T) {
	plain := asked(t, agentconfig.Chat{Model: "m"}, sending(``))
	got := asked(t, agentconfig.Chat{Model: "m"}, sending(`"parameters":{"messages":[],"model":"x","stream":false,"tools":[],"n":2}`))
	if diff := cmp.Diff(plain, got); diff != "" || len(got) != 4 {
		t.Errorf("%d members (-want +got):\n%s", len(got), diff)
	}
}

func TestRequest_converts_parameters(t *testing.T) {
	for name, c := range map[string]struct {
		sent string // of ag_ui_input
		want string // of the request
	}{
		"a choice in a word":           {`"tools":[{"name":"f"}],"tool_choice":"required"`, `"tool_choice":"required"`},
		"allowed tools":                {`"tools":[{"name":"f"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`},
		"a choice of another type":     {`"tools":[{"name":"f"}],"tool_choice":{"type":"custom"}`, `"tool_choice":{"type":"custom"}`},
		"a choice of a wrong type":     {`"tools":[{"name":"f"}],"tool_choice":{"type":5}`, ``},
		"a choice without tools":       {`"tool_choice":"auto","parallel_tool_calls":true`, ``},
		"text as the format":           {`"parameters":{"text":{"format":{"type":"text"}}}`, ``},
		"any JSON as the format":       {`"parameters":{"text":{"format":{"type":"json_object"}}}`, `"response_format":{"type":"json_object"}`},
		"null":                         {`"parameters":{"temperature":null,"text":null,"reasoning":{"effort":null}},"tool_choice":null`, ``},
		"an object of another type":    {`"parameters":{"text":[],"reasoning":5}`, ``},
		"what chat completions lack":   {`"parameters":{"truncation":"auto","reasoning":{"summary":"auto"},"service_tier":"priority"}`, ``},
		"a whole member of wrong type": {`"parameters":5,"tools":[{"name":"f"}]`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			got := asked(t, agentconfig.Chat{Model: "m"}, sending(c.sent))
			for _, member := range []string{"messages", "model", "stream", "stream_options", "tools"} {
				delete(got, member)
			}
			want := map[string]any{}
			if err := json.Unmarshal([]byte("{"+c.want+"}"), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
