package agent_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
)

// FuzzAgentStream checks that an agent with an arbitrary stream satisfies the
// contract of run.Agent or fails with an *agent.Error.
func FuzzAgentStream(f *testing.F) {
	f.Add("event: item\ndata: {\"item_id\":\"a\",\"author\":\"helper\"}\n\nevent: delta\ndata: {\"item_id\":\"a\",\"delta\":{\"part\":0,\"text\":\"x\"}}\n\n" +
		"event: event\ndata: {\"id\":\"a\",\"author\":\"helper\",\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"x\"}]}}\n\nevent: done\ndata: {}\n\n")
	f.Add(fine)
	f.Add("event: error\ndata: {\"code\":\"c\",\"message\":\"m\"}\n\n")
	f.Add("data: \xff\n\n")
	f.Add(": only a comment\n\n\r\n\rdata:")
	fuzzStream(f, func(url string) run.Agent {
		return agent.NewHTTP(agent.Endpoint{URL: url, Timeouts: patient()})
	})
}

// FuzzChatStream is FuzzAgentStream for chat completions.
func FuzzChatStream(f *testing.F) {
	f.Add(chunks(`{"choices":[{"delta":{"role":"assistant","content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"total_tokens":3}}`, "[DONE]"))
	f.Add(chunks(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, "[DONE]"))
	f.Add(chunks(`{"choices":[{"delta":{"reasoning_content":"h"}}]}`, `{"error":{"message":"m","code":429}}`))
	f.Add(chunks(`{"choices":[{"delta":{"content":"\ud800"},"finish_reason":"stop"}]}`))
	f.Add(chunks(`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":[{"text":"h"}]},5]}}]}`))
	f.Add(chunks(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","sign":1},"extra_content":{}}]},"finish_reason":"stop"}]}`))
	f.Add(chunks(`{"choices":[{"delta":null,"index":-1}]}`, `null`, `[]`))
	fuzzStream(f, func(url string) run.Agent {
		return agent.NewChatCompletions(agent.Endpoint{URL: url, Timeouts: patient()}, agent.Chat{Model: "m"})
	})
}

// FuzzResponseStream is FuzzAgentStream for the Responses API.
func FuzzResponseStream(f *testing.F) {
	f.Add(responseStream(created, `response.output_text.delta "output_index":0,"content_index":0,"delta":"a"`,
		wroteItem(0, messageSaying(`{"type":"output_text","text":"a"}`)), completed))
	f.Add(responseStream(wroteItem(0, reasoned), `response.output_item.added "output_index":1,"item":`+called,
		`response.function_call_arguments.delta "output_index":1,"delta":"{}"`, wroteItem(1, called), completed))
	f.Add(responseStream(wroteItem(-1, `{"type":"web_search_call"}`), `error "code":429,"message":"m"`))
	f.Add(responseStream(`response.failed "response":{"error":[]}`) + "data: [DONE]\n\n")
	fuzzStream(f, func(url string) run.Agent {
		return agent.NewResponses(agent.Endpoint{URL: url, Timeouts: patient()}, agent.Chat{Model: "m"})
	})
}

// FuzzAGUIStream is FuzzAgentStream for AG-UI.
func FuzzAGUIStream(f *testing.F) {
	f.Add(aguiStream(runStarted, textBegins, textSays, textEnds, callBegins, callArgs, callEnds, callResult, runFinished))
	f.Add(aguiStream(`STATE_SNAPSHOT "snapshot":{"a":[1]}`, `STATE_DELTA "delta":[{"op":"move","from":"/a/0","path":"/b"},{"op":"test","path":"","value":{}}]`,
		`ACTIVITY_SNAPSHOT "messageId":"p","content":{}`, `ACTIVITY_DELTA "messageId":"p","patch":[{"op":"replace","path":"","value":1}]`, runFinished))
	f.Add(aguiStream(`REASONING_START "messageId":"r"`, `REASONING_ENCRYPTED_VALUE "subtype":"message","entityId":"r","encryptedValue":"x"`,
		`THINKING_TEXT_MESSAGE_START`, `THINKING_TEXT_MESSAGE_CONTENT "delta":"a"`, `CUSTOM "name":"n"`, `RUN_ERROR "code":"c","message":"m"`))
	f.Add(aguiStream(`TEXT_MESSAGE_CHUNK "messageId":"m1","delta":"a"`, `TOOL_CALL_CHUNK "toolCallId":"c","toolCallName":"f","delta":"{"`,
		`MESSAGES_SNAPSHOT "messages":[{"id":"0"},{"id":"m2","role":"assistant","content":"b","toolCalls":[{"id":"c2","function":{"name":"g"}}]},{"role":"tool","toolCallId":"c2"}]`,
		`RUN_FINISHED "outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}`))
	fuzzStream(f, func(url string) run.Agent {
		return agent.NewAGUI(agent.Endpoint{URL: url, Timeouts: patient()}, agent.Frontend{})
	})
}

// FuzzADKStream is FuzzAgentStream for ADK's API server.
func FuzzADKStream(f *testing.F) {
	f.Add(adkStream(adkSaid("e1", `{"text":"a"}`, `,"partial":true`), adkSaid("e2", `{"text":"b"}`, `,"branch":"x"`), adkSaid("e1", `{"text":"ab","thoughtSignature":"_-8="}`)))
	f.Add(adkStream(adkSaid("e1", `{"functionCall":{"id":"c","name":"f","args":{}}}`, `,"longRunningToolIds":["c"]`), adkSaid("e1", "", `,"actions":{"artifactDelta":{"a":1e9}}`)))
	f.Add(adkStream(adkSaid("e1", "", `,"errorCode":"SAFETY"`), `{"error":{},"error_details":{"error_type":"E"}}`))
	fuzzStream(f, func(url string) run.Agent {
		return agent.NewADK(agent.Endpoint{URL: url, Timeouts: patient()}, "app")
	})
}

func fuzzStream(f *testing.F, newAgent func(url string) run.Agent) {
	f.Helper()
	var answer atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/apps/") { // a session of ADK's, or its artifact
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "null")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, *answer.Load())
	}))
	f.Cleanup(server.Close)
	a := newAgent(server.URL)
	f.Cleanup(a.(interface{ Close() }).Close)
	f.Fuzz(func(t *testing.T, body string) {
		answer.Store(&body)
		_, err := record(t, a, ask(t, "hi"))
		var failed *agent.Error
		if err != nil && !errors.As(err, &failed) {
			t.Errorf("%q: %v is no error of an agent", body, err)
		}
	})
}
