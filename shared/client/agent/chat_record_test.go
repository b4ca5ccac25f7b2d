package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// answer returns the event that a completion becomes.
func answer(t *testing.T, model string, data ...string) session.Event {
	t.Helper()
	a := newChat(t, streams(chunks(append(data, "[DONE]")...)), agent.Chat{Model: model})
	r := mustRecord(t, a, ask(t, "hi"))
	if len(r.events) != 1 {
		t.Fatalf("%d events: %q", len(r.events), r.log)
	}
	return r.events[0]
}

// A model gets its answer back as it sent it, as long as it is the same model.
func TestChatAnswersGoBackAsTheyCame(t *testing.T) {
	const (
		signed  = `{"id":"c1","type":"function","extra_content":{"google":{"thought_signature":"x"}},"function":{"name":"f","arguments":"{}","sign":"s"}}`
		plain   = `{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}`
		result  = `,{"role":"tool","tool_call_id":"c1","content":"{\"error\":\"the call got no response\"}"}`
		thought = `{"choices":[{"delta":{"reasoning_content":"hm"}}]}`
	)
	calls := func(call string) string { return `{"choices":[{"delta":{"tool_calls":[` + call + `]}}]}` }
	for name, c := range map[string]struct {
		sent []string
		chat agent.Chat
		want string
	}{
		"a signed call": {
			[]string{calls(signed)},
			agent.Chat{Model: "m"},
			`{"role":"assistant","tool_calls":[` + signed + `]}` + result,
		},
		"a call of another model": {
			[]string{calls(signed)},
			agent.Chat{Model: "other"},
			`{"role":"assistant","tool_calls":[` + plain + `]}` + result,
		},
		"thinking with a call": {
			[]string{thought, calls(plain)},
			agent.Chat{Model: "m"},
			`{"role":"assistant","reasoning_content":"hm","tool_calls":[` + plain + `]}` + result,
		},
		"thinking under its other name": {
			[]string{`{"choices":[{"delta":{"reasoning":"hm","reasoning_details":[{"data":"d"}]}}]}`, calls(plain)},
			agent.Chat{Model: "m"},
			`{"role":"assistant","reasoning":"hm","reasoning_details":[{"data":"d"}],"tool_calls":[` + plain + `]}` + result,
		},
		"thinking of another model": {
			[]string{thought, calls(plain)},
			agent.Chat{Model: "other"},
			`{"role":"assistant","tool_calls":[` + plain + `]}` + result,
		},
		"thinking without a call": {
			[]string{thought, `{"choices":[{"delta":{"content":"a"}}]}`},
			agent.Chat{Model: "m"},
			`{"role":"assistant","content":"a"}`,
		},
		"thinking always": {
			[]string{thought, `{"choices":[{"delta":{"content":"a"}}]}`},
			agent.Chat{Model: "m", Reasoning: agent.Always},
			`{"role":"assistant","content":"a","reasoning_content":"hm"}`,
		},
		"thinking never": {
			[]string{thought, calls(plain)},
			agent.Chat{Model: "m", Reasoning: agent.Never},
			`{"role":"assistant","tool_calls":[` + plain + `]}` + result,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := answer(t, "m", c.sent...)
			e.ID = "e"
			raw, err := jsonx.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if err := json.Unmarshal([]byte("["+c.want+"]"), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, asked(t, c.chat, string(raw))["messages"]); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChatTellsOfATruncatedHistory(t *testing.T) {
	for system, want := range map[string]string{
		"":          "The beginning of this conversation is left out.",
		"Be short.": "Be short.\n\nThe beginning of this conversation is left out.",
	} {
		var got struct {
			Messages []struct{ Role, Content string }
		}
		a := newChat(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			streams(chunks(`[DONE]`))(rw, r)
		}), agent.Chat{System: system})
		req := ask(t, "hi")
		req.Truncated = true
		mustRecord(t, a, req)
		if len(got.Messages) != 2 || got.Messages[0].Role != "system" || got.Messages[0].Content != want {
			t.Errorf("messages %+v", got.Messages)
		}
	}
}

// Whether a provider refuses a request by its status or within the stream, a run
// fails with the same code; what the provider says is for the log only, without the
// key.
func TestChatRefusals(t *testing.T) {
	const key = "sk-secret-key"
	cases := map[string]struct {
		status int // 0 for errors within streams only
		body   string
		code   string
	}{
		"OpenAI: context":          {400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, agent.CodeContextLength},
		"vLLM: context":            {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, agent.CodeContextLength},
		"Anthropic: context":       {400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum","type":"invalid_request_error"}}`, agent.CodeContextLength},
		"Gemini: context":          {400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, agent.CodeContextLength},
		"llama.cpp: context":       {400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, agent.CodeContextLength},
		"OpenAI: quota":            {429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, agent.CodeQuota},
		"DeepSeek: balance":        {402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, agent.CodeQuota},
		"OpenAI: rate":             {429, `{"error":{"message":"Rate limit reached for gpt-5","type":"tokens","code":"rate_limit_exceeded"}}`, agent.CodeRateLimit},
		"a bare 429":               {429, ``, agent.CodeRateLimit},
		"OpenAI: model":            {404, `{"error":{"message":"The model 'x' does not exist","type":"invalid_request_error","code":"model_not_found"}}`, agent.CodeModel},
		"DeepSeek: model":          {400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}`, agent.CodeModel},
		"Ollama: model":            {404, `{"error":{"message":"model 'x' not found","type":"not_found_error","code":null}}`, agent.CodeModel},
		"a bare 404":               {404, `404 page not found`, agent.CodeModel},
		"OpenAI: key":              {401, `{"error":{"message":"Incorrect API key provided: sk-secret-key.","type":"invalid_request_error","code":"invalid_api_key"}}`, agent.CodeKey},
		"Gemini: key":              {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, agent.CodeKey},
		"a bare 401":               {401, ``, agent.CodeKey},
		"another reason":           {400, `{"error":{"message":"temperature must be at most 2","code":"invalid_value"}}`, agent.CodeRefused},
		"a permission":             {403, `{"error":{"message":"not in your country"}}`, agent.CodeRefused},
		"a server's fault":         {500, `{"error":{"message":"model is unknown to this shard"}}`, agent.CodeRefused},
		"a context within streams": {0, `{"error":{"message":"too long","code":"context_length_exceeded"}}`, agent.CodeContextLength},
		"a rate within streams":    {0, `{"error":{"message":"Rate limited","type":"rate_limit_error"}}`, agent.CodeRateLimit},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Authorization": {"Bearer " + key}}
			server := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if c.status == 0 {
					streams(chunks(c.body))(rw, r)
					return
				}
				rw.WriteHeader(c.status)
				_, _ = fmt.Fprint(rw, c.body)
			}))
			a := agent.NewChatCompletions(agent.Endpoint{URL: server, Header: header, Timeouts: patient()}, agent.Chat{Model: "x"})
			t.Cleanup(a.Close)
			_, err := record(t, a, ask(t, "hi"))
			wantError(t, err, c.code, "")
			for _, text := range []string{err.Error(), problemOf(t, err).Message} {
				if strings.Contains(text, key) {
					t.Errorf("%q contains the key", text)
				}
			}
			if c.code != agent.CodeRefused && strings.Contains(problemOf(t, err).Message, "token") {
				t.Errorf("users see the provider's words: %q", problemOf(t, err).Message)
			}
		})
	}
	t.Run("an error within a stream does not show the key", func(t *testing.T) {
		a := agent.NewChatCompletions(agent.Endpoint{
			URL:    serve(t, streams(chunks(`{"error":{"message":"odd sk-secret-key","code":"odd"}}`))),
			Header: http.Header{"Authorization": {"Bearer " + key}}, Timeouts: patient(),
		}, agent.Chat{})
		t.Cleanup(a.Close)
		_, err := record(t, a, ask(t, "hi"))
		wantError(t, err, "odd", "odd [redacted]")
	})
}

func problemOf(t *testing.T, err error) *run.Problem {
	t.Helper()
	p, ok := err.(interface{ Problem() *run.Problem })
	if !ok {
		t.Fatalf("%v has no problem", err)
	}
	return p.Problem()
}
