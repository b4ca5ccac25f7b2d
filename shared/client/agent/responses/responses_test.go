package responses_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/client/agent/responses"
	"github.com/rethread/rethread/shared/domain/run"
)

// responseStream returns a stream of events as OpenAI sends it: each event's type is
// also in its data.
func responseStream(events ...string) string {
	var out strings.Builder
	for i, e := range events {
		kind, members, _ := strings.Cut(e, " ")
		if members != "" {
			members = "," + members
		}
		fmt.Fprintf(&out, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d%s}\n\n", kind, kind, i, members)
	}
	return out.String()
}

const (
	created   = `response.created "response":{"id":"resp_1","status":"in_progress","output":[]}`
	completed = `response.completed "response":{"id":"resp_1","status":"completed","output":[],"error":null,"incomplete_details":null,"usage":{"total_tokens":3}}`
	ended     = `,"finish_reason":"stop"`
	used      = ended + `,"usage_metadata":{"total_tokens":3}`

	reasoned = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}`
	called   = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"f","arguments":"{\"a\":1}"}`
)

func wroteItem(index int, item string) string {
	return fmt.Sprintf(`response.output_item.done "output_index":%d,"item":%s`, index, item)
}

func messageSaying(parts ...string) string {
	return `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[` + strings.Join(parts, ",") + `]}`
}

func newResponses(t *testing.T, h http.Handler, c agentconfig.Chat) *responses.Agent {
	t.Helper()
	a := responses.New(agentconfig.Endpoint{URL: agenttest.Serve(t, h) + "/v1/", Timeouts: agenttest.Patient()}, c)
	t.Cleanup(a.Close)
	return a
}

// keptAs is CompletedAs with the record of a response.
func keptAs(items, content, rest string) string {
	before, usage, _ := strings.Cut(rest, `,"usage_metadata"`) // members are sorted
	if usage != "" {
		usage = `,"usage_metadata"` + usage
	}
	return agenttest.CompletedAs(content, before+`,"responses":{"model":"m","items":[`+items+`]}`+usage)
}

func TestAnswers(t *testing.T) {
	const (
		text      = `response.output_text.delta "item_id":"msg_1","output_index":0,"content_index":0,"delta":"a"`
		kept      = `{"type":"reasoning","item":{"encrypted_content":"x","summary":[{"type":"summary_text","text":"hm"}],"type":"reasoning"}}`
		thought   = `{"thought":true,"text":"hm"}`
		callPart  = `{"function_call":{"id":"c1","name":"f","args":{"a":1}}}`
		callBegun = `response.output_item.added "output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":""}`
	)
	for name, c := range map[string]struct {
		sent []string
		want []string
	}{
		"text, with the usage": {
			[]string{created, `response.output_item.added "output_index":0,"item":{"type":"message","content":[]}`, text, text, wroteItem(0, messageSaying(`{"type":"output_text","text":"aa"}`)), completed},
			[]string{agenttest.Begun, `delta {"part":0,"text":"a"}`, `delta {"part":0,"text":"a"}`, agenttest.CompletedAs(`{"text":"aa"}`, used)},
		},
		"text of which no deltas come": {
			[]string{created, wroteItem(0, messageSaying(`{"type":"output_text","text":"a"}`)), completed},
			[]string{agenttest.Begun, `delta {"part":0,"text":"a"}`, agenttest.CompletedAs(`{"text":"a"}`, used)},
		},
		"items that are only at the end": {
			[]string{`response.completed "response":{"status":"completed","output":[` + reasoned + `,` + messageSaying(`{"type":"output_text","text":"a"}`) + `]}`},
			[]string{
				agenttest.Begun, `delta {"part":0,"thought":true,"text":"hm"}`, `delta {"part":1,"text":"a"}`,
				keptAs(kept+`,{"type":"message","parts":1}`, thought+`,{"text":"a"}`, ended),
			},
		},
		"reasoning and a call": {
			[]string{
				created, `response.reasoning_summary_text.delta "output_index":0,"summary_index":0,"delta":"hm"`, wroteItem(0, reasoned),
				callBegun, `response.function_call_arguments.delta "output_index":1,"delta":"{\"a\":"`, `response.function_call_arguments.delta "output_index":1,"delta":"1}"`,
				`response.function_call_arguments.done "output_index":1,"arguments":"{\"a\":1}"`, wroteItem(1, called), completed,
			},
			[]string{
				agenttest.Begun, `delta {"part":0,"thought":true,"text":"hm"}`, `delta {"part":1,"function_call":{"id":"c1","name":"f","args_text":""}}`,
				`delta {"part":1,"function_call":{"args_text":"{\"a\":"}}`, `delta {"part":1,"function_call":{"args_text":"1}"}}`,
				keptAs(kept+`,{"type":"function_call"}`, thought+`,`+callPart, used),
			},
		},
		"a call whose arguments come at once": {
			[]string{`response.output_item.added "output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":""}`, wroteItem(0, called), completed},
			[]string{
				agenttest.Begun, `delta {"part":0,"function_call":{"id":"c1","name":"f","args_text":""}}`,
				`delta {"part":0,"function_call":{"args_text":"{\"a\":1}"}}`, agenttest.CompletedAs(callPart, used),
			},
		},
		"reasoning as text, which is sent back too": {
			[]string{
				`response.reasoning_text.delta "output_index":0,"content_index":0,"delta":"hm"`,
				wroteItem(0, `{"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`), completed,
			},
			[]string{
				agenttest.Begun, `delta {"part":0,"thought":true,"text":"hm"}`,
				keptAs(`{"type":"reasoning","item":{"content":[{"type":"reasoning_text","text":"hm"}],"summary":[],"type":"reasoning"}}`, thought, used),
			},
		},
		"a refusal is text of its own, and marked": {
			[]string{`response.refusal.delta "output_index":0,"content_index":0,"delta":"No."`, wroteItem(0, messageSaying(`{"type":"refusal","refusal":"No."}`)), completed},
			[]string{agenttest.Begun, `delta {"part":0,"text":"No."}`, agenttest.CompletedAs(`{"text":"No."}`, ended+`,"refusal":true,"usage_metadata":{"total_tokens":3}`)},
		},
		"an item of a tool of the provider's": {
			[]string{wroteItem(0, `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"query":"q"}}`), wroteItem(1, messageSaying(`{"type":"output_text","text":"a"}`)), completed},
			[]string{
				agenttest.Begun, `delta {"part":0,"text":"a"}`,
				keptAs(`{"type":"web_search_call","item":{"action":{"query":"q"},"type":"web_search_call"}},{"type":"message","parts":1}`, `{"text":"a"}`, used),
			},
		},
		"an answer that was cut": {
			[]string{text, `response.incomplete "response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`},
			[]string{agenttest.Begun, `delta {"part":0,"text":"a"}`, agenttest.CompletedAs(`{"text":"a"}`, `,"finish_reason":"max_output_tokens"`)},
		},
		"nothing to say": {[]string{created, completed}, []string{agenttest.Begun, agenttest.CompletedAs("", used)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := agenttest.MustRecord(t, newResponses(t, agenttest.Streams(responseStream(c.sent...)), agentconfig.Chat{Model: "m"}), agenttest.Ask(t, "hi"))
			if diff := cmp.Diff(c.want, r.Log); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a server that does not stream", func(t *testing.T) {
		whole := `{"status":"completed","output":[` + messageSaying(`{"type":"output_text","text":"a"}`) + `]}`
		if r := agenttest.MustRecord(t, newResponses(t, agenttest.Says("application/json", whole), agentconfig.Chat{}), agenttest.Ask(t, "hi")); r.Text() != "a" {
			t.Errorf("got %q", r.Log)
		}
	})
}

func TestFailures(t *testing.T) {
	const word = `response.output_text.delta "output_index":0,"content_index":0,"delta":"a"`
	for name, c := range map[string]struct{ body, code, says string }{
		"no end":                     {responseStream(created, word), endpoint.CodeEndedEarly, "ended early"},
		"no end but [DONE]":          {responseStream(word) + "data: [DONE]\n\n", endpoint.CodeEndedEarly, "ended early"},
		"a response that failed":     {responseStream(word, `response.failed "response":{"status":"failed","error":{"code":"server_error","message":"boom"}}`), endpoint.CodeRefused, "did not complete"},
		"a failure without a reason": {responseStream(`response.failed "response":{"status":"failed","error":null}`), endpoint.CodeRefused, ""},
		"an error event":             {responseStream(word, `error "code":"odd","message":"m","param":null`), endpoint.CodeRefused, "did not complete"},
		"a history that is too long": {responseStream(`response.failed "response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window"}}`), provider.CodeContextLength, ""},
		"malformed JSON":             {"data: {\"type\":\n\n", endpoint.CodeProtocol, "an event that is malformed (number 1"},
		"no object":                  {"data: []\n\n", endpoint.CodeProtocol, "must be an object"},
		"a delta of a wrong type":    {responseStream(`response.output_text.delta "delta":5`), endpoint.CodeProtocol, "malformed"},
		"an end without a response":  {responseStream(`response.completed`), endpoint.CodeProtocol, "response is required"},
		"arguments without a call":   {responseStream(`response.function_call_arguments.delta "output_index":0,"delta":"{"`), endpoint.CodeProtocol, "has not begun"},
		"an item far away":           {responseStream(wroteItem(1_000_000_000, called)), run.CodeLimit, "1000000000"},
		"a call without a name":      {responseStream(`response.output_item.added "output_index":0,"item":{"type":"function_call","call_id":"c"}`), endpoint.CodeProtocol, "needs a name"},
		"an incomplete call": {
			responseStream(`response.output_item.added "output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{"}`, completed),
			run.CodeContent, "not whole",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agenttest.Record(t, newResponses(t, agenttest.Streams(c.body), agentconfig.Chat{}), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, c.says)
		})
	}
	t.Run("a status", func(t *testing.T) {
		_, err := agenttest.Record(t, newResponses(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(http.StatusUnauthorized)
		}), agentconfig.Chat{}), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, provider.CodeKey, "")
	})
}

// askedOfResponses is the request that a model gets for a history.
func askedOfResponses(t *testing.T, c agentconfig.Chat, events ...string) map[string]any {
	t.Helper()
	var got map[string]any
	a := newResponses(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/responses" {
			t.Errorf("path %s", r.URL.Path)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		agenttest.Streams(responseStream(completed))(rw, r)
	}), c)
	req := agenttest.Ask(t)
	for _, raw := range events {
		req.Events = append(req.Events, agenttest.Event(t, raw))
	}
	agenttest.MustRecord(t, a, req)
	return got
}

func TestRequest(t *testing.T) {
	got := askedOfResponses(t, agentconfig.Chat{
		Model: "m", System: "Be short.", Tools: json.RawMessage(`[{"type":"function","name":"f"}]`),
		Parameters: map[string]json.RawMessage{"reasoning": json.RawMessage(`{"effort":"low"}`)},
	}, agenttest.Said("user", "user", `{"text":"hi"}`))
	want := map[string]any{
		"model": "m", "stream": true, "store": false, "instructions": "Be short.",
		"include": []any{"reasoning.encrypted_content"}, "reasoning": map[string]any{"effort": "low"},
		"tools": []any{map[string]any{"type": "function", "name": "f"}},
		"input": []any{map[string]any{
			"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": "hi"}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRequest_offers_the_tools_of_the_front_end(t *testing.T) {
	got := askedOfResponses(t, agentconfig.Chat{
		Model: "m", Tools: json.RawMessage(`[{"type":"function","name":"own"}]`),
	}, agenttest.OfFrontEnd)
	want := []any{
		map[string]any{"type": "function", "name": "own"},
		map[string]any{
			"type": "function", "name": "pick", "description": "d", "strict": false,
			"parameters": map[string]any{"type": "object", "properties": map[string]any{}},
		},
	}
	if diff := cmp.Diff(want, got["tools"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHistory(t *testing.T) {
	const (
		call   = `{"function_call":{"id":"c1","name":"f","args":{"a":1}}}`
		sent   = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"}`
		unmet  = `{"type":"function_call_output","call_id":"c1","output":"{\"error\":\"the call got no response\"}"}`
		answer = `{"function_response":{"id":"c1","name":"f","response":{"r":2}}}`
		output = `{"type":"function_call_output","call_id":"c1","output":"{\"r\":2}"}`
	)
	user := func(parts string) string { return `{"type":"message","role":"user","content":[` + parts + `]}` }
	model := func(parts string) string { return `{"type":"message","role":"assistant","content":[` + parts + `]}` }
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"roles": {
			[]string{agenttest.Said("user", "user", `{"text":"a"},{"text":"b"}`), agenttest.Said("x", "model", `{"thought":true,"text":"hm"},{"text":"c"}`)},
			user(`{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}`) + `,` + model(`{"type":"output_text","text":"c"}`),
		},
		"a call between texts, and its response": {
			[]string{agenttest.Said("x", "model", `{"text":"look"},`+call+`,{"text":"wait"}`), agenttest.Said("user", "user", answer+`,{"text":"and"}`)},
			model(`{"type":"output_text","text":"look"}`) + `,` + sent + `,` + model(`{"type":"output_text","text":"wait"}`) + `,` + output + `,` + user(`{"type":"input_text","text":"and"}`),
		},
		"a call without a response":            {[]string{agenttest.Said("x", "model", call), agenttest.Said("user", "user", `{"text":"a"}`)}, sent + `,` + unmet + `,` + user(`{"type":"input_text","text":"a"}`)},
		"a response without a call":            {[]string{agenttest.Said("user", "user", answer)}, user(`{"type":"input_text","text":"[response of f: {\"r\":2}]"}`)},
		"an image, a PDF and a sound":          {[]string{agenttest.Said("user", "user", `{"inline_data":{"mime_type":"image/png","data":"a-_="}},{"inline_data":{"mime_type":"application/pdf","data":"eA=="}},{"inline_data":{"mime_type":"audio/mp3","data":"eA=="}}`)}, user(`{"type":"input_image","image_url":"data:image/png;base64,a+/="},{"type":"input_file","filename":"file.pdf","file_data":"data:application/pdf;base64,eA=="},{"type":"input_text","text":"[attached: audio/mp3]"}`)},
		"an image and a document at addresses": {[]string{agenttest.Said("user", "user", `{"file_data":{"mime_type":"image/*","file_uri":"https://x/y"}},{"file_data":{"mime_type":"application/pdf","file_uri":"https://x/a.pdf"}},{"file_data":{"file_uri":"https://x/b"}},{"file_data":{"mime_type":"video/mp4","file_uri":"https://x/c"}},{"file_data":{"mime_type":"application/pdf","file_uri":"gs://x/d"}}`)}, user(`{"type":"input_image","image_url":"https://x/y"},{"type":"input_file","file_url":"https://x/a.pdf"},{"type":"input_file","file_url":"https://x/b"},{"type":"input_text","text":"[file: video/mp4 https://x/c]"},{"type":"input_text","text":"[file: application/pdf gs://x/d]"}`)},
		"a document and a text":                {[]string{agenttest.Said("user", "user", `{"inline_data":{"mime_type":"application/vnd.openxmlformats-officedocument.wordprocessingml.document","display_name":"a.docx","data":"eA=="}},{"inline_data":{"mime_type":"text/plain","display_name":"a.txt","data":"aGk="}}`)}, user(`{"type":"input_file","filename":"a.docx","file_data":"data:application/vnd.openxmlformats-officedocument.wordprocessingml.document;base64,eA=="},{"type":"input_text","text":"[attached: text/plain a.txt]\nhi"}`)},
		"instructions within the conversation": {[]string{agenttest.Said("user", "system", `{"text":"a"}`), agenttest.Said("user", "developer", `{"text":"b"}`), agenttest.Said("x", "system", `{"text":"c"}`)}, `{"type":"message","role":"system","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"b"}]},` + user(`{"type":"input_text","text":"c"}`)},
		"calls without ids, by name":           {[]string{agenttest.Said("x", "model", `{"function_call":{"name":"f"}}`), agenttest.Said("user", "user", `{"function_response":{"name":"f"}}`)}, `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"{}"}`},
		"events without content":               {[]string{`{"invocation_id":"i","author":"x","actions":{"state_delta":{"a":1}}}`}, ``},
		"a record of somebody else's":          {[]string{`{"invocation_id":"i","author":"x","content":{"role":"model","parts":[{"text":"a"}]},"responses":5}`}, model(`{"type":"output_text","text":"a"}`)},
		"a record that does not match":         {[]string{`{"invocation_id":"i","author":"x","content":{"role":"model","parts":[{"text":"a"}]},"responses":{"model":"m","items":[{"type":"reasoning","item":{"type":"reasoning"}},{"type":"message","parts":2}]}}`}, model(`{"type":"output_text","text":"a"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			var want any
			if err := json.Unmarshal([]byte("["+c.want+"]"), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, askedOfResponses(t, agentconfig.Chat{Model: "m"}, c.events...)["input"]); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

// The same model gets the items of its response back in their order, without the ids
// of what the provider has not stored; another model gets what everybody sees.
func TestAnswersGoBackAsTheyCame(t *testing.T) {
	sent := []string{
		wroteItem(0, reasoned), wroteItem(1, messageSaying(`{"type":"output_text","text":"a"}`, `{"type":"output_text","text":"b"}`)),
		wroteItem(2, called), wroteItem(3, messageSaying(`{"type":"output_text","text":"c"}`)), completed,
	}
	r := agenttest.MustRecord(t, newResponses(t, agenttest.Streams(responseStream(sent...)), agentconfig.Chat{Model: "m"}), agenttest.Ask(t, "hi"))
	e := r.Events[0]
	e.ID = "e"
	raw, err := jsonx.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	const (
		reasoning = `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"},`
		rest      = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]},` +
			`{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"},` +
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"c"}]},` +
			`{"type":"function_call_output","call_id":"c1","output":"{\"error\":\"the call got no response\"}"}`
	)
	for model, want := range map[string]string{"m": reasoning + rest, "other": rest} {
		var items any
		if err := json.Unmarshal([]byte("["+want+"]"), &items); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(items, askedOfResponses(t, agentconfig.Chat{Model: model}, string(raw))["input"]); diff != "" {
			t.Errorf("input of model %s (-want +got):\n%s", model, diff)
		}
	}
}
