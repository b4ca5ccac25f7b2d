package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

// answers are answers with JSON in a text, TEXT, or as it is, RAW, by the kind of the
// agent.
func answers() map[string][]string {
	sse := agenttest.Chunks
	return map[string][]string{
		"http": {
			"event: delta\ndata: " + `{"part":0,"function_call":{"name":"f","args_text":TEXT}}` + "\n\nevent: done\ndata: {}\n\n",
			"event: event\ndata: " + `{"content":{"parts":[{"function_call":{"name":"f","args":RAW}}]}}` + "\n\nevent: done\ndata: {}\n\n",
		},
		"chat_completions": {
			sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":TEXT}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`),
			sse(`{"choices":[{"delta":{"content":"x","reasoning_details":[RAW]},"finish_reason":"stop"}]}`, `[DONE]`),
		},
		"responses": {sse(
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":TEXT}}`,
			`{"type":"response.completed","response":{"status":"completed","output":[]}}`,
		)},
		"ag_ui": {
			sse(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
				`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":TEXT}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`,
				`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`),
			sse(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
				`{"type":"TOOL_CALL_END","toolCallId":"c"}`, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":TEXT}`,
				`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`),
		},
		"adk": {sse(`{"id":"e","author":"helper","content":{"role":"model","parts":[{"functionCall":{"name":"f","args":RAW}}]}}`)},
	}
}

// What an agent says can be stored, or ends the run with an error of the agent's.
func TestInner_JSON_of_agents(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat(`{"a":`, depth-1) + `{}` + strings.Repeat("}", depth-1) }
	cases, kept := 0, 0
	for kind, all := range answers() {
		for i, answer := range all {
			for name, text := range map[string]string{
				"half of a character": `{"q":"x\ud99c"}`, "600 levels": nested(600), "9,998 levels": nested(9_998), "plain": `{"q":"\ud83d\ude00"}`,
			} {
				cases++
				quoted, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				body := strings.NewReplacer("TEXT", string(quoted), "RAW", text).Replace(answer)
				url := agenttest.Serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if strings.HasPrefix(r.URL.Path, "/apps/") {
						agenttest.Says("application/json", `{"id":"x","events":[],"state":{}}`)(rw, r)
						return
					}
					agenttest.Streams(body)(rw, r)
				}))
				of := mustConfig(t, fmt.Sprintf(`{"x":{"type":%q,"url":%q%s}}`, kind, url, map[string]string{
					"chat_completions": `,"model":"m"`, "responses": `,"model":"m"`, "adk": `,"app":"trips"`,
				}[kind]), nil)["x"]
				err = of.Run(t.Context(), agenttest.Ask(t, "hi"), func(o run.Output) error {
					if o.Event != nil {
						kept++
						if flaw := jsonx.CheckInner(o.Event.Own()); flaw != nil {
							t.Errorf("%s %d, %s: an event %s", kind, i, name, flaw.Reason)
						}
					}
					return nil
				})
				var failed *endpoint.Error
				switch {
				case err == nil:
				case name == "plain", !errors.As(err, &failed):
					t.Errorf("%s %d, %s: %v", kind, i, name, err)
				case failed.Code != run.CodeContent && failed.Code != endpoint.CodeProtocol:
					t.Errorf("%s %d, %s: ends with %s", kind, i, name, failed.Code)
				}
			}
		}
	}
	if cases < 8*4 || kept < cases/2 {
		t.Errorf("%d cases with %d events, want 32 with 16", cases, kept)
	}
}
