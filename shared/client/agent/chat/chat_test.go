package chat_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestAnswers(t *testing.T) {
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
				agenttest.Begun, `delta {"part":0,"text":"a"}`, `delta {"part":0,"text":"b"}`,
				agenttest.CompletedAs(`{"text":"ab"}`, `,"finish_reason":"length","usage_metadata":{"total_tokens":3}`),
			},
		},
		"thinking under either name": {
			[]string{
				`{"choices":[{"delta":{"reasoning_content":"h","reasoning":"h"}}]}`,
				`{"choices":[{"delta":{"reasoning":"m","content":null}}]}`,
				`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, `[DONE]`,
			},
			[]string{
				agenttest.Begun, `delta {"part":0,"thought":true,"text":"h"}`, `delta {"part":0,"thought":true,"text":"m"}`,
				`delta {"part":1,"text":"a"}`,
				agenttest.CompletedWith(`{"model":"m","reasoning":"reasoning_content"}`, `{"thought":true,"text":"hm"},{"text":"a"}`, `,"finish_reason":"stop"`),
			},
		},
		"calls by index, interleaved": {
			[]string{
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":""}},{"index":1,"id":"2","function":{"name":"g","arguments":"{"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}},{"index":1,"id":"2","function":{"name":"g","arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`,
			},
			[]string{
				agenttest.Begun, `delta {"part":0,"function_call":{"id":"1","name":"f","args_text":""}}`,
				`delta {"part":1,"function_call":{"id":"2","name":"g","args_text":"{"}}`,
				`delta {"part":0,"function_call":{"args_text":"{\"a\":1}"}}`,
				`delta {"part":1,"function_call":{"args_text":"}"}}`,
				agenttest.CompletedAs(`{"function_call":{"id":"1","name":"f","args":{"a":1}}},{"function_call":{"id":"2","name":"g","args":{}}}`, `,"finish_reason":"tool_calls"`),
			},
		},
		"arguments that are an object": {
			[]string{`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":{"a": 1}}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`},
			[]string{
				agenttest.Begun, `delta {"part":0,"function_call":{"id":"1","name":"f","args_text":"{\"a\":1}"}}`,
				agenttest.CompletedAs(`{"function_call":{"id":"1","name":"f","args":{"a":1}}}`, `,"finish_reason":"tool_calls"`),
			},
		},
		"calls without an index, or all with the same": {
			[]string{
				`{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"2","function":{"name":"g","arguments":"{"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`,
			},
			[]string{
				agenttest.Begun, `delta {"part":0,"function_call":{"id":"1","name":"f","args_text":"{}"}}`,
				`delta {"part":1,"function_call":{"id":"2","name":"g","args_text":"{"}}`,
				`delta {"part":1,"function_call":{"args_text":"}"}}`,
				agenttest.CompletedAs(`{"function_call":{"id":"1","name":"f","args":{}}},{"function_call":{"id":"2","name":"g","args":{}}}`, `,"finish_reason":"tool_calls"`),
			},
		},
		"a refusal is text of its own, and marked": {
			[]string{`{"choices":[{"delta":{"content":"I "}}]}`, `{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}`, `[DONE]`},
			[]string{agenttest.Begun, `delta {"part":0,"text":"I "}`, `delta {"part":1,"text":"No."}`, agenttest.CompletedAs(`{"text":"I "},{"text":"No."}`, `,"finish_reason":"stop","refusal":true`)},
		},
		"content as lists of parts": {
			[]string{
				`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m"}]}]}}]}`,
				`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"reference","reference_ids":[1]},{"type":"text","text":"b"}]}}]}`,
				`{"choices":[{"delta":{"content":[{"type":"refusal","refusal":"No."}]},"finish_reason":"stop"}]}`, `[DONE]`,
			},
			[]string{
				agenttest.Begun, `delta {"part":0,"thought":true,"text":"hm"}`, `delta {"part":1,"text":"ab"}`, `delta {"part":2,"text":"No."}`,
				agenttest.CompletedWith(`{"model":"m","content":[{"type":"reference","reference_ids":[1]}]}`,
					`{"thought":true,"text":"hm"},{"text":"ab"},{"text":"No."}`, `,"finish_reason":"stop","refusal":true`),
			},
		},
		"members of calls that only the provider understands": {
			[]string{
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":""}},{"index":1,"id":"2","function":{"name":"g","arguments":"{}","sign":"s"},"extra_content":{"google":{"thought_signature":"x"}}}]}}]}`,
				`{"choices":[{"delta":{"reasoning_details":[{"data":"d"}],"tool_calls":[{"index":1,"function":{"arguments":""},"late":1}]},"finish_reason":"tool_calls"}]}`, `[DONE]`,
			},
			[]string{
				agenttest.Begun, `delta {"part":0,"function_call":{"id":"1","name":"f","args_text":""}}`,
				`delta {"part":1,"function_call":{"id":"2","name":"g","args_text":"{}"}}`,
				`delta {"part":1,"function_call":{"args_text":""}}`,
				agenttest.CompletedWith(`{"model":"m","reasoning_details":[{"data":"d"}],"tool_calls":[{},{"extra_content":{"google":{"thought_signature":"x"}},"function":{"sign":"s"},"late":1}]}`,
					`{"function_call":{"id":"1","name":"f","args":{}}},{"function_call":{"id":"2","name":"g","args":{}}}`, `,"finish_reason":"tool_calls"`),
			},
		},
		"no text": {
			[]string{`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, `[DONE]`},
			[]string{agenttest.Begun, agenttest.CompletedAs("", `,"finish_reason":"content_filter"`)},
		},
		"a server that sends no end": {
			[]string{`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`},
			[]string{agenttest.Begun, `delta {"part":0,"text":"a"}`, agenttest.CompletedAs(`{"text":"a"}`, `,"finish_reason":"stop"`)},
		},
		"a server that sends no finish reason": {
			[]string{`{"choices":[{"delta":{"content":"a"}}]}`, `[DONE]`},
			[]string{agenttest.Begun, `delta {"part":0,"text":"a"}`, agenttest.CompletedAs(`{"text":"a"}`, "")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := agenttest.NewChat(t, agenttest.Streams(": PROCESSING\n\n"+agenttest.Chunks(c.sent...)), agentconfig.Chat{Model: "m"})
			r := agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
			if diff := cmp.Diff(c.want, r.Log); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a server that does not stream", func(t *testing.T) {
		a := agenttest.NewChat(t, agenttest.Says("application/json", `{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`), agentconfig.Chat{})
		if r := agenttest.MustRecord(t, a, agenttest.Ask(t, "hi")); r.Text() != "a" {
			t.Errorf("got %q", r.Log)
		}
	})
}

func TestFailures(t *testing.T) {
	const word = `{"choices":[{"delta":{"content":"a"}}]}`
	for name, c := range map[string]struct{ body, code, says string }{
		"no end":                     {agenttest.Chunks(word), endpoint.CodeEndedEarly, "ended early"},
		"an error within the stream": {agenttest.Chunks(word, `{"error":{"message":"overloaded","code":503}}`), endpoint.CodeRefused, "did not complete"},
		"an error in a named event":  {agenttest.Chunks(word) + agenttest.SSE(`error {"error":{"message":"m","code":"c"}}`), endpoint.CodeRefused, "did not complete"},
		"an error that is text":      {agenttest.Chunks(`{"error":"m"}`), endpoint.CodeRefused, "did not complete"},
		"an error without a code":    {agenttest.Chunks(`{"error":{"message":"m","code":null}}`), endpoint.CodeRefused, "did not complete"},
		"malformed JSON":             {agenttest.Chunks(word, `{"choices":[`), endpoint.CodeProtocol, "a chunk that is malformed (number 2"},
		"no object":                  {agenttest.Chunks(`[]`), endpoint.CodeProtocol, "must be an object"},
		"content of a wrong type":    {agenttest.Chunks(`{"choices":[{"delta":{"content":5}}]}`), endpoint.CodeProtocol, "a chunk that is malformed"},
		"a call without a name":      {agenttest.Chunks(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1"}]}}]}`), endpoint.CodeProtocol, "/function_call/name is required"},
		"an incomplete call": {
			agenttest.Chunks(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}}]},"finish_reason":"length"}]}`, `[DONE]`),
			run.CodeContent, "not whole",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agenttest.Record(t, agenttest.NewChat(t, agenttest.Streams(c.body), agentconfig.Chat{}), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, c.says)
		})
	}
	t.Run("users do not get the provider's words", func(t *testing.T) {
		body := agenttest.Chunks(word, `{"error":{"message":"boom","code":"server_error"}}`)
		_, err := agenttest.Record(t, agenttest.NewChat(t, agenttest.Streams(body), agentconfig.Chat{}), agenttest.Ask(t, "hi"))
		var shown interface{ Problem() *run.Problem }
		if !errors.As(err, &shown) || shown.Problem().Code != endpoint.CodeRefused || strings.Contains(shown.Problem().Message, "boom") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another content type", func(t *testing.T) {
		_, err := agenttest.Record(t, agenttest.NewChat(t, agenttest.Says("text/plain", "hi"), agentconfig.Chat{}), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeProtocol, `"text/plain"`)
	})
	t.Run("a whole answer of malformed JSON", func(t *testing.T) {
		_, err := agenttest.Record(t, agenttest.NewChat(t, agenttest.Says("application/json", "{"), agentconfig.Chat{}), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeProtocol, "malformed")
	})
}

// asked is the request that a model gets for a history.
func asked(t *testing.T, c agentconfig.Chat, events ...string) map[string]any {
	t.Helper()
	var got map[string]any
	a := agenttest.NewChat(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			t.Errorf("path %s", r.URL.Path)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		agenttest.Streams(agenttest.Chunks(`[DONE]`))(rw, r)
	}), c)
	req := agenttest.Ask(t)
	for _, raw := range events {
		var e session.Event
		if e = agenttest.Event(t, raw); e.Author == "" {
			t.Fatalf("event %s", raw)
		}
		req.Events = append(req.Events, e)
	}
	agenttest.MustRecord(t, a, req)
	return got
}

func TestRequest(t *testing.T) {
	got := asked(t, agentconfig.Chat{
		Model: "m", System: "Be short.", Tools: json.RawMessage(`[{"type":"function"}]`),
		Parameters: map[string]json.RawMessage{"temperature": json.RawMessage("0.5")},
	}, agenttest.Said("user", "user", `{"text":"hi"}`))
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

func TestRequest_offers_the_tools_of_the_front_end(t *testing.T) {
	got := asked(t, agentconfig.Chat{
		Model: "m", Tools: json.RawMessage(`[{"type":"function","function":{"name":"own"}}]`),
	}, agenttest.OfFrontEnd)
	want := []any{
		map[string]any{"type": "function", "function": map[string]any{"name": "own"}},
		map[string]any{"type": "function", "function": map[string]any{
			"name": "pick", "description": "d", "parameters": map[string]any{"type": "object", "properties": map[string]any{}},
		}},
	}
	if diff := cmp.Diff(want, got["tools"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHistory(t *testing.T) {
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
			[]string{agenttest.Said("user", "user", `{"text":"a"}`), agenttest.Said("x", "model", `{"text":"b"}`), agenttest.Said("user", "", `{"text":"c"}`), agenttest.Said("x", "", `{"text":"d"}`)},
			`{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}`,
		},
		"thoughts, empty texts and events without content are left out": {
			[]string{`{"invocation_id":"i","author":"x","actions":{"state_delta":{"a":1}}}`, agenttest.Said("x", "model", `{"thought":true,"text":"hm"},{"text":""}`), agenttest.Said("x", "model", ``), agenttest.Said("user", "user", `{"text":"a"}`)},
			`{"role":"user","content":"a"}`,
		},
		"several texts": {
			[]string{agenttest.Said("user", "user", `{"text":"a"},{"text":"b"}`)},
			`{"role":"user","content":"a\nb"}`,
		},
		"a call and its answer": {
			[]string{agenttest.Said("x", "model", `{"text":"look"},`+call), agenttest.Said("user", "user", `{"function_response":{"id":"c1","name":"f","response":{"r":2}}}`)},
			`{"role":"assistant","content":"look","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"{\"r\":2}"}`,
		},
		"an answer with a text": {
			[]string{agenttest.Said("x", "model", call), agenttest.Said("user", "user", `{"text":"and"},{"function_response":{"id":"c1","name":"f","response":{}}}`)},
			called + `,{"role":"tool","tool_call_id":"c1","content":"{}"},{"role":"user","content":"and"}`,
		},
		"calls without ids are answered by name, in order": {
			[]string{
				agenttest.Said("x", "model", `{"function_call":{"name":"f"}},{"function_call":{"name":"f"}}`),
				agenttest.Said("user", "user", `{"function_response":{"name":"f","response":{"n":1}}}`),
				agenttest.Said("user", "user", `{"function_response":{"id":"odd","name":"f","response":null}}`),
			},
			`{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call_2","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"call_1","content":"{\"n\":1}"},{"role":"tool","tool_call_id":"call_2","content":"{}"}`,
		},
		"an unanswered call within the conversation": {
			[]string{agenttest.Said("x", "model", call), agenttest.Said("user", "user", `{"text":"never mind"}`)},
			called + `,` + unmet + `,{"role":"user","content":"never mind"}`,
		},
		"an unanswered call at the end": {
			[]string{agenttest.Said("x", "model", call)},
			called + `,` + unmet,
		},
		"an answer without a call": {
			[]string{agenttest.Said("user", "user", `{"function_response":{"id":"c9","name":"f","response":{"r":2}}}`)},
			`{"role":"user","content":"[response of f: {\"r\":2}]"}`,
		},
		"an image": {
			[]string{agenttest.Said("user", "user", `{"text":"see"},{"inline_data":{"mime_type":"image/png","data":"a-_="}}`)},
			`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,a+/="}}]}`,
		},
		"parts that a chat cannot represent": {
			[]string{
				agenttest.Said("user", "user", `{"inline_data":{"mime_type":"audio/mp3","display_name":"a.mp3","data":"eA=="}},{"file_data":{"mime_type":"image/png","file_uri":"gs://x/y"}},{"file_data":{"mime_type":"application/pdf","file_uri":"https://x/z"}},{"executable_code":{"code":"1+1"}},{"text":5}`),
				agenttest.Said("x", "model", `{"inline_data":{"mime_type":"image/png","data":"eA=="}},{"file_data":{"mime_type":"image/png","file_uri":"https://x/y"}}`),
			},
			`{"role":"user","content":"[attached: audio/mp3 a.mp3]\n[file: image/png gs://x/y]\n[file: application/pdf https://x/z]\n{\"executable_code\":{\"code\":\"1+1\"}}\n{\"text\":5}"},{"role":"assistant","content":"[attached: image/png]\n[file: image/png https://x/y]"}`,
		},
		"an image at an address, and a PDF": {
			[]string{agenttest.Said("user", "user", `{"file_data":{"mime_type":"image/*","file_uri":"https://x/y"}},{"inline_data":{"mime_type":"application/pdf","display_name":"a.pdf","data":"eA=="}},{"inline_data":{"mime_type":"application/pdf","data":"eA=="}}`)},
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,eA=="}},{"type":"file","file":{"filename":"file.pdf","file_data":"data:application/pdf;base64,eA=="}}]}`,
		},
		"files of text are texts, if they are UTF-8": {
			[]string{agenttest.Said("user", "user", `{"inline_data":{"mime_type":"text/csv; charset=utf-8","display_name":"a.csv","data":"YSxi"}},{"inline_data":{"mime_type":"application/json","data":"WzFd"}},{"inline_data":{"mime_type":"text/plain","data":"_w=="}}`)},
			`{"role":"user","content":"[attached: text/csv; charset=utf-8 a.csv]\na,b\n[attached: application/json]\n[1]\n[attached: text/plain]"}`,
		},
		"instructions within the conversation": {
			[]string{
				agenttest.Said("user", "system", `{"text":"Be short."}`), agenttest.Said("user", "developer", `{"text":"Be kind."}`), agenttest.Said("user", "user", `{"text":"a"}`),
				agenttest.Said("x", "system", `{"text":"an agent cannot instruct"}`),
			},
			`{"role":"system","content":"Be short."},{"role":"system","content":"Be kind."},{"role":"user","content":"a"},{"role":"user","content":"an agent cannot instruct"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want any
			if err := json.Unmarshal([]byte("["+c.want+"]"), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, asked(t, agentconfig.Chat{}, c.events...)["messages"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
