package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func chunks(data ...string) string {
	var out strings.Builder
	for _, d := range data {
		fmt.Fprintf(&out, "data: %s\n\n", d)
	}
	return out.String()
}

// begun is the beginning of every completion's log.
const begun = "item  helper model"

func completedAs(content, rest string) string {
	return `completed {"id":"","invocation_id":"run-1","author":"helper","content":{"role":"model","parts":[` + content + `]}` + rest + `}`
}

// completedWith is completedAs with a record of the provider's own members.
func completedWith(record, content, rest string) string {
	return strings.Replace(completedAs(content, rest), `,"content":`, `,"chat_completions":`+record+`,"content":`, 1)
}

func TestChatAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		sent []string
		want []string
	}{
		"text, with the metadata of the answer": {
			[]string{
				`{"choices":[{"delta":{"role":"assistant","content":""}}]}`,
				`{"choices":[{"delta":{"content":"a"}}],"usage":null}`,
				`{"choices":[{"delta":{"content":"b"},"finish_reason":"length"}]}`,
				`{"choices":[],"usage":{"total_tokens":3}}`, `[DONE]`,
			},
			[]string{
				begun, `delta {"part":0,"text":"a"}`, `delta {"part":0,"text":"b"}`,
				completedAs(`{"text":"ab"}`, `,"finish_reason":"length","usage_metadata":{"total_tokens":3}`),
			},
		},
		"thinking under either name": {
			[]string{
				`{"choices":[{"delta":{"reasoning_content":"h","reasoning":"h"}}]}`,
				`{"choices":[{"delta":{"reasoning":"m","content":null}}]}`,
				`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, `[DONE]`,
			},
			[]string{
				begun, `delta {"part":0,"thought":true,"text":"h"}`, `delta {"part":0,"thought":true,"text":"m"}`,
				`delta {"part":1,"text":"a"}`,
				completedWith(`{"model":"m","reasoning":"reasoning_content"}`, `{"thought":true,"text":"hm"},{"text":"a"}`, `,"finish_reason":"stop"`),
			},
		},
		"calls by index, interleaved": {
			[]string{
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":""}},{"index":1,"id":"2","function":{"name":"g","arguments":"{"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}},{"index":1,"id":"2","function":{"name":"g","arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`,
			},
			[]string{
				begun, `delta {"part":0,"function_call":{"id":"1","name":"f","args_text":""}}`,
				`delta {"part":1,"function_call":{"id":"2","name":"g","args_text":"{"}}`,
				`delta {"part":0,"function_call":{"args_text":"{\"a\":1}"}}`,
				`delta {"part":1,"function_call":{"args_text":"}"}}`,
				completedAs(`{"function_call":{"id":"1","name":"f","args":{"a":1}}},{"function_call":{"id":"2","name":"g","args":{}}}`, `,"finish_reason":"tool_calls"`),
			},
		},
		"calls without an index, or all with the same": {
			[]string{
				`{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"2","function":{"name":"g","arguments":"{"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`,
			},
			[]string{
				begun, `delta {"part":0,"function_call":{"id":"1","name":"f","args_text":"{}"}}`,
				`delta {"part":1,"function_call":{"id":"2","name":"g","args_text":"{"}}`,
				`delta {"part":1,"function_call":{"args_text":"}"}}`,
				completedAs(`{"function_call":{"id":"1","name":"f","args":{}}},{"function_call":{"id":"2","name":"g","args":{}}}`, `,"finish_reason":"tool_calls"`),
			},
		},
		"a refusal is text of its own, and marked": {
			[]string{`{"choices":[{"delta":{"content":"I "}}]}`, `{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}`, `[DONE]`},
			[]string{begun, `delta {"part":0,"text":"I "}`, `delta {"part":1,"text":"No."}`, completedAs(`{"text":"I "},{"text":"No."}`, `,"finish_reason":"stop","refusal":true`)},
		},
		"content as lists of parts": {
			[]string{
				`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m"}]}]}}]}`,
				`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"reference","reference_ids":[1]},{"type":"text","text":"b"}]}}]}`,
				`{"choices":[{"delta":{"content":[{"type":"refusal","refusal":"No."}]},"finish_reason":"stop"}]}`, `[DONE]`,
			},
			[]string{
				begun, `delta {"part":0,"thought":true,"text":"hm"}`, `delta {"part":1,"text":"ab"}`, `delta {"part":2,"text":"No."}`,
				completedWith(`{"model":"m","content":[{"type":"reference","reference_ids":[1]}]}`,
					`{"thought":true,"text":"hm"},{"text":"ab"},{"text":"No."}`, `,"finish_reason":"stop","refusal":true`),
			},
		},
		"members of calls that only the provider understands": {
			[]string{
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":""}},{"index":1,"id":"2","function":{"name":"g","arguments":"{}","sign":"s"},"extra_content":{"google":{"thought_signature":"x"}}}]}}]}`,
				`{"choices":[{"delta":{"reasoning_details":[{"data":"d"}],"tool_calls":[{"index":1,"function":{"arguments":""},"late":1}]},"finish_reason":"tool_calls"}]}`, `[DONE]`,
			},
			[]string{
				begun, `delta {"part":0,"function_call":{"id":"1","name":"f","args_text":""}}`,
				`delta {"part":1,"function_call":{"id":"2","name":"g","args_text":"{}"}}`,
				`delta {"part":1,"function_call":{"args_text":""}}`,
				completedWith(`{"model":"m","reasoning_details":[{"data":"d"}],"tool_calls":[{},{"extra_content":{"google":{"thought_signature":"x"}},"function":{"sign":"s"},"late":1}]}`,
					`{"function_call":{"id":"1","name":"f","args":{}}},{"function_call":{"id":"2","name":"g","args":{}}}`, `,"finish_reason":"tool_calls"`),
			},
		},
		"no text": {
			[]string{`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, `[DONE]`},
			[]string{begun, completedAs("", `,"finish_reason":"content_filter"`)},
		},
		"a server that sends no end": {
			[]string{`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`},
			[]string{begun, `delta {"part":0,"text":"a"}`, completedAs(`{"text":"a"}`, `,"finish_reason":"stop"`)},
		},
		"a server that sends no finish reason": {
			[]string{`{"choices":[{"delta":{"content":"a"}}]}`, `[DONE]`},
			[]string{begun, `delta {"part":0,"text":"a"}`, completedAs(`{"text":"a"}`, "")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newChat(t, streams(": PROCESSING\n\n"+chunks(c.sent...)), agent.Chat{Model: "m"})
			r := mustRecord(t, a, ask(t, "hi"))
			if diff := cmp.Diff(c.want, r.log); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a server that does not stream", func(t *testing.T) {
		a := newChat(t, says("application/json", `{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`), agent.Chat{})
		if r := mustRecord(t, a, ask(t, "hi")); r.text() != "a" {
			t.Errorf("got %q", r.log)
		}
	})
}

func TestChatFailures(t *testing.T) {
	const word = `{"choices":[{"delta":{"content":"a"}}]}`
	for name, c := range map[string]struct{ body, code, says string }{
		"no end":                     {chunks(word), agent.CodeEndedEarly, "ended early"},
		"an error within the stream": {chunks(word, `{"error":{"message":"overloaded","code":503}}`), "503", "overloaded"},
		"an error in a named event":  {chunks(word) + sse(`error {"error":{"message":"m","code":"c"}}`), "c", "m"},
		"an error that is text":      {chunks(`{"error":"m"}`), run.CodeAgent, "m"},
		"an error without a code":    {chunks(`{"error":{"message":"m","code":null}}`), run.CodeAgent, "m"},
		"malformed JSON":             {chunks(word, `{"choices":[`), agent.CodeProtocol, "a chunk that is malformed (number 2"},
		"no object":                  {chunks(`[]`), agent.CodeProtocol, "must be an object"},
		"content of a wrong type":    {chunks(`{"choices":[{"delta":{"content":5}}]}`), agent.CodeProtocol, "a chunk that is malformed"},
		"a call without a name":      {chunks(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1"}]}}]}`), agent.CodeProtocol, "/function_call/name is required"},
		"an incomplete call": {
			chunks(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}}]},"finish_reason":"length"}]}`, `[DONE]`),
			run.CodeContent, "not whole",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := record(t, newChat(t, streams(c.body), agent.Chat{}), ask(t, "hi"))
			wantError(t, err, c.code, c.says)
		})
	}
	t.Run("another content type", func(t *testing.T) {
		_, err := record(t, newChat(t, says("text/plain", "hi"), agent.Chat{}), ask(t, "hi"))
		wantError(t, err, agent.CodeProtocol, `"text/plain"`)
	})
	t.Run("a whole answer of malformed JSON", func(t *testing.T) {
		_, err := record(t, newChat(t, says("application/json", "{"), agent.Chat{}), ask(t, "hi"))
		wantError(t, err, agent.CodeProtocol, "malformed")
	})
}

// asked is the request that a model gets for a history.
func asked(t *testing.T, c agent.Chat, events ...string) map[string]any {
	t.Helper()
	var got map[string]any
	a := newChat(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			t.Errorf("path %s", r.URL.Path)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		streams(chunks(`[DONE]`))(rw, r)
	}), c)
	req := ask(t)
	for _, raw := range events {
		var e session.Event
		if e = mustEvent(t, raw); e.Author == "" {
			t.Fatalf("event %s", raw)
		}
		req.Events = append(req.Events, e)
	}
	mustRecord(t, a, req)
	return got
}

func said(author, role, parts string) string {
	return fmt.Sprintf(`{"invocation_id":"i","author":%q,"content":{"role":%q,"parts":[%s]}}`, author, role, parts)
}

func TestChatRequest(t *testing.T) {
	got := asked(t, agent.Chat{
		Model: "m", System: "Be short.", Tools: json.RawMessage(`[{"type":"function"}]`),
		Parameters: map[string]json.RawMessage{"temperature": json.RawMessage("0.5")},
	}, said("user", "user", `{"text":"hi"}`))
	want := map[string]any{
		"model": "m", "stream": true, "stream_options": map[string]any{"include_usage": true}, "temperature": 0.5,
		"tools": []any{map[string]any{"type": "function"}},
		"messages": []any{
			map[string]any{"role": "system", "content": "Be short."},
			map[string]any{"role": "user", "content": "hi"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChatHistory(t *testing.T) {
	const (
		call   = `{"function_call":{"id":"c1","name":"f","args":{"a":1}}}`
		called = `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`
		unmet  = `{"role":"tool","tool_call_id":"c1","content":"{\"error\":\"the call got no response\"}"}`
	)
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"roles": {
			[]string{said("user", "user", `{"text":"a"}`), said("x", "model", `{"text":"b"}`), said("user", "", `{"text":"c"}`), said("x", "", `{"text":"d"}`)},
			`{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}`,
		},
		"thoughts, empty texts and events without content are left out": {
			[]string{`{"invocation_id":"i","author":"x","actions":{"state_delta":{"a":1}}}`, said("x", "model", `{"thought":true,"text":"hm"},{"text":""}`), said("x", "model", ``), said("user", "user", `{"text":"a"}`)},
			`{"role":"user","content":"a"}`,
		},
		"several texts": {
			[]string{said("user", "user", `{"text":"a"},{"text":"b"}`)},
			`{"role":"user","content":"a\nb"}`,
		},
		"a call and its answer": {
			[]string{said("x", "model", `{"text":"look"},`+call), said("user", "user", `{"function_response":{"id":"c1","name":"f","response":{"r":2}}}`)},
			`{"role":"assistant","content":"look","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"{\"r\":2}"}`,
		},
		"an answer with a text": {
			[]string{said("x", "model", call), said("user", "user", `{"text":"and"},{"function_response":{"id":"c1","name":"f","response":{}}}`)},
			called + `,{"role":"tool","tool_call_id":"c1","content":"{}"},{"role":"user","content":"and"}`,
		},
		"calls without ids are answered by name, in order": {
			[]string{
				said("x", "model", `{"function_call":{"name":"f"}},{"function_call":{"name":"f"}}`),
				said("user", "user", `{"function_response":{"name":"f","response":{"n":1}}}`),
				said("user", "user", `{"function_response":{"id":"odd","name":"f","response":null}}`),
			},
			`{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call_2","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"call_1","content":"{\"n\":1}"},{"role":"tool","tool_call_id":"call_2","content":"{}"}`,
		},
		"an unanswered call within the conversation": {
			[]string{said("x", "model", call), said("user", "user", `{"text":"never mind"}`)},
			called + `,` + unmet + `,{"role":"user","content":"never mind"}`,
		},
		"an unanswered call at the end": {
			[]string{said("x", "model", call)},
			called + `,` + unmet,
		},
		"an answer without a call": {
			[]string{said("user", "user", `{"function_response":{"id":"c9","name":"f","response":{"r":2}}}`)},
			`{"role":"user","content":"[response of f: {\"r\":2}]"}`,
		},
		"an image": {
			[]string{said("user", "user", `{"text":"see"},{"inline_data":{"mime_type":"image/png","data":"a-_="}}`)},
			`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,a+/="}}]}`,
		},
		"parts that a chat cannot represent": {
			[]string{
				said("user", "user", `{"inline_data":{"mime_type":"application/pdf","display_name":"a.pdf","data":"eA=="}},{"file_data":{"mime_type":"image/png","file_uri":"https://x/y"}},{"executable_code":{"code":"1+1"}},{"text":5}`),
				said("x", "model", `{"inline_data":{"mime_type":"image/png","data":"eA=="}}`),
			},
			`{"role":"user","content":"[attached: application/pdf a.pdf]\n[file: image/png https://x/y]\n{\"executable_code\":{\"code\":\"1+1\"}}\n{\"text\":5}"},{"role":"assistant","content":"[attached: image/png]"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want any
			if err := json.Unmarshal([]byte("["+c.want+"]"), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, asked(t, agent.Chat{}, c.events...)["messages"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestChatHistoryThatCannotBeRead(t *testing.T) {
	req := ask(t)
	req.Events = []session.Event{mustEvent(t, `{"invocation_id":"i","author":"user","content":{"parts":5}}`)}
	if _, err := record(t, newChat(t, streams(""), agent.Chat{}), req); err == nil || !strings.Contains(err.Error(), "event 0 of the history") {
		t.Errorf("got %v", err)
	}
}
