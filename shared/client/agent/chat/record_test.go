package chat_test

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
	"github.com/rethread/rethread/shared/client/agent/chat"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/domain/session"
)

// answer returns the event that a completion becomes.
func answer(t *testing.T, model string, data ...string) session.Event {
	t.Helper()
	a := agenttest.NewChat(t, agenttest.Streams(agenttest.Chunks(append(data, "[DONE]")...)), agentconfig.Chat{Model: model})
	r := agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
	if len(r.Events) != 1 {
		t.Fatalf("%d events: %q", len(r.Events), r.Log)
	}
	return r.Events[0]
}

// A model gets its answer back as it sent it, as long as it is the same model.
func TestAnswersGoBackAsTheyCame(t *testing.T) {
	const (
		signed  = `{"id":"c1","type":"function","extra_content":{"google":{"thought_signature":"x"}},"function":{"name":"f","arguments":"{}","sign":"s"}}`
		plain   = `{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}`
		result  = `,{"role":"tool","tool_call_id":"c1","content":"{\"error\":\"the call got no response\"}"}`
		thought = `{"choices":[{"delta":{"reasoning_content":"hm"}}]}`
	)
	calls := func(call string) string { return `{"choices":[{"delta":{"tool_calls":[` + call + `]}}]}` }
	for name, c := range map[string]struct {
		sent []string
		chat agentconfig.Chat
		want string
	}{
		"a signed call": {
			[]string{calls(signed)},
			agentconfig.Chat{Model: "m"},
			`{"role":"assistant","tool_calls":[` + signed + `]}` + result,
		},
		"a call of another model": {
			[]string{calls(signed)},
			agentconfig.Chat{Model: "other"},
			`{"role":"assistant","tool_calls":[` + plain + `]}` + result,
		},
		"thinking with a call": {
			[]string{thought, calls(plain)},
			agentconfig.Chat{Model: "m"},
			`{"role":"assistant","reasoning_content":"hm","tool_calls":[` + plain + `]}` + result,
		},
		"thinking under its other name": {
			[]string{`{"choices":[{"delta":{"reasoning":"hm","reasoning_details":[{"data":"d"}]}}]}`, calls(plain)},
			agentconfig.Chat{Model: "m"},
			`{"role":"assistant","reasoning":"hm","reasoning_details":[{"data":"d"}],"tool_calls":[` + plain + `]}` + result,
		},
		"thinking of another model": {
			[]string{thought, calls(plain)},
			agentconfig.Chat{Model: "other"},
			`{"role":"assistant","tool_calls":[` + plain + `]}` + result,
		},
		"thinking without a call": {
			[]string{thought, `{"choices":[{"delta":{"content":"a"}}]}`},
			agentconfig.Chat{Model: "m"},
			`{"role":"assistant","content":"a"}`,
		},
		"thinking always": {
			[]string{thought, `{"choices":[{"delta":{"content":"a"}}]}`},
			agentconfig.Chat{Model: "m", Reasoning: agentconfig.Always},
			`{"role":"assistant","content":"a","reasoning_content":"hm"}`,
		},
		"thinking never": {
			[]string{thought, calls(plain)},
			agentconfig.Chat{Model: "m", Reasoning: agentconfig.Never},
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

func TestTellsOfATruncatedHistory(t *testing.T) {
	for system, want := range map[string]string{
		"":          "The beginning of this conversation is left out.",
		"Be short.": "Be short.\n\nThe beginning of this conversation is left out.",
	} {
		var got struct {
			Messages []struct{ Role, Content string }
		}
		a := agenttest.NewChat(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			agenttest.Streams(agenttest.Chunks(`[DONE]`))(rw, r)
		}), agentconfig.Chat{System: system})
		req := agenttest.Ask(t, "hi")
		req.Truncated = true
		agenttest.MustRecord(t, a, req)
		if len(got.Messages) != 2 || got.Messages[0].Role != "system" || got.Messages[0].Content != want {
			t.Errorf("messages %+v", got.Messages)
		}
	}
}

// Whether a provider refuses a request by its status or within the stream, a run
// fails with the same code; what the provider says is for the log only, without the
// key.
func TestRefusals(t *testing.T) {
	const key = "sk-secret-key"
	cases := map[string]struct {
		status int // 0 for errors within streams only
		body   string
		code   string
	}{
		"OpenAI: context":          {400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, provider.CodeContextLength},
		"vLLM: context":            {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, provider.CodeContextLength},
		"Anthropic: context":       {400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum","type":"invalid_request_error"}}`, provider.CodeContextLength},
		"Gemini: context":          {400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, provider.CodeContextLength},
		"llama.cpp: context":       {400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, provider.CodeContextLength},
		"OpenAI: quota":            {429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, provider.CodeQuota},
		"DeepSeek: balance":        {402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, provider.CodeQuota},
		"OpenAI: rate":             {429, `{"error":{"message":"Rate limit reached for gpt-5","type":"tokens","code":"rate_limit_exceeded"}}`, provider.CodeRateLimit},
		"a bare 429":               {429, ``, provider.CodeRateLimit},
		"OpenAI: model":            {404, `{"error":{"message":"The model 'x' does not exist","type":"invalid_request_error","code":"model_not_found"}}`, provider.CodeModel},
		"DeepSeek: model":          {400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}`, provider.CodeModel},
		"Ollama: model":            {404, `{"error":{"message":"model 'x' not found","type":"not_found_error","code":null}}`, provider.CodeModel},
		"a bare 404":               {404, `404 page not found`, provider.CodeModel},
		"OpenAI: key":              {401, `{"error":{"message":"Incorrect API key provided: sk-secret-key.","type":"invalid_request_error","code":"invalid_api_key"}}`, provider.CodeKey},
		"Gemini: key":              {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, provider.CodeKey},
		"a bare 401":               {401, ``, provider.CodeKey},
		"another reason":           {400, `{"error":{"message":"temperature must be at most 2","code":"invalid_value"}}`, endpoint.CodeRefused},
		"a permission":             {403, `{"error":{"message":"not in your country"}}`, endpoint.CodeRefused},
		"a server's fault":         {500, `{"error":{"message":"model is unknown to this shard"}}`, endpoint.CodeRefused},
		"a context within streams": {0, `{"error":{"message":"too long","code":"context_length_exceeded"}}`, provider.CodeContextLength},
		"a rate within streams":    {0, `{"error":{"message":"Rate limited","type":"rate_limit_error"}}`, provider.CodeRateLimit},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Authorization": {"Bearer " + key}}
			server := agenttest.Serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if c.status == 0 {
					agenttest.Streams(agenttest.Chunks(c.body))(rw, r)
					return
				}
				rw.WriteHeader(c.status)
				_, _ = fmt.Fprint(rw, c.body)
			}))
			a := chat.New(agentconfig.Endpoint{URL: server, Header: header, Timeouts: agenttest.Patient()}, agentconfig.Chat{Model: "x"})
			t.Cleanup(a.Close)
			_, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, "")
			for _, text := range []string{err.Error(), agenttest.ProblemOf(t, err).Message} {
				if strings.Contains(text, key) {
					t.Errorf("%q contains the key", text)
				}
			}
			if c.code != endpoint.CodeRefused && strings.Contains(agenttest.ProblemOf(t, err).Message, "token") {
				t.Errorf("users see the provider's words: %q", agenttest.ProblemOf(t, err).Message)
			}
		})
	}
	t.Run("an error within a stream does not show the key", func(t *testing.T) {
		a := chat.New(agentconfig.Endpoint{
			URL:    agenttest.Serve(t, agenttest.Streams(agenttest.Chunks(`{"error":{"message":"odd sk-secret-key","code":"odd"}}`))),
			Header: http.Header{"Authorization": {"Bearer " + key}}, Timeouts: agenttest.Patient(),
		}, agentconfig.Chat{})
		t.Cleanup(a.Close)
		_, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeRefused, "did not complete")
		if !strings.Contains(err.Error(), "odd [redacted]") { // operators may read it
			t.Errorf("got %v", err)
		}
	})
}
