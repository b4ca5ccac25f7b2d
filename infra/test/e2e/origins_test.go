package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
)

// sentByClients are the headers that browsers ask for before the official clients'
// requests: those of openai's buildHeaders and getPlatformHeaders, of its helpers, and of
// the AI SDK. Firefox and Safari ask for User-Agent too.
func sentByClients() map[string][]string {
	openai := []string{
		"authorization", "content-type", "user-agent", "idempotency-key", "openai-organization", "openai-project",
		"x-stainless-retry-count", "x-stainless-timeout", "x-stainless-lang", "x-stainless-package-version", "x-stainless-os",
		"x-stainless-arch", "x-stainless-runtime", "x-stainless-runtime-version", "x-stainless-helper-method",
		"x-stainless-poll-helper", "x-stainless-custom-poll-interval",
	}
	return map[string][]string{
		"/v1/responses": openai, "/v1/conversations": openai, "/v1/models": openai,
		"/ai-sdk/demo": {"authorization", "content-type", "user-agent"}, "/agui/demo": {"authorization", "content-type"},
		"/a2a/demo": {"authorization", "content-type", "a2a-version", "a2a-extensions"},
	}
}

// testOrigins calls from pages of another origin.
func testOrigins(t *testing.T, sys *e2e.System) {
	t.Helper()
	send := func(method, path string, header map[string]string) (status int, headers http.Header, body []byte) {
		r, err := http.NewRequestWithContext(t.Context(), method, sys.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", "https://page.example")
		for name, value := range header {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if body, err = io.ReadAll(answer.Body); err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header, body
	}
	t.Run("preflights allow what the official clients send", func(t *testing.T) {
		asked := 0
		for path, names := range sentByClients() {
			_, header, _ := send(http.MethodOptions, path, map[string]string{
				"Access-Control-Request-Method": http.MethodPost, "Access-Control-Request-Headers": strings.Join(names, ","),
			})
			allowed := "," + strings.ReplaceAll(strings.ToLower(header.Get("Access-Control-Allow-Headers")), " ", "") + ","
			for _, name := range names {
				if asked++; !strings.Contains(allowed, ","+name+",") {
					t.Errorf("%s refuses %s", path, name)
				}
			}
		}
		if asked < 60 {
			t.Errorf("only %d headers were asked for", asked)
		}
	})
	t.Run("answers expose what clients read", func(t *testing.T) {
		token := "Bearer " + sys.User(t, "alice").Token
		for _, path := range []string{"/v1/models", "/ai-sdk/demo/none/stream", "/agui/demo/threads/none"} {
			_, header, _ := send(http.MethodGet, path, map[string]string{"Authorization": token})
			exposed := header.Get("Access-Control-Expose-Headers")
			for _, name := range []string{"x-should-retry", "retry-after", "retry-after-ms", "x-request-id", "x-amzn-requestid"} {
				if !strings.Contains(exposed, name) {
					t.Errorf("%s does not expose %s", path, name)
				}
			}
			if header.Get("X-Request-Id") == "" || header.Get("Access-Control-Allow-Origin") == "" {
				t.Errorf("%s is answered with %v", path, header)
			}
		}
	})
	t.Run("errors of the gateway have the form that OpenAI's SDKs read", func(t *testing.T) {
		for path, token := range map[string]string{
			"/v1/models": "", "/v1/responses/x": "Bearer none", "/v1/nothing": "", "/v1/chat/completions": "Bearer " + sys.User(t, "alice").Token,
		} {
			status, _, body := send(http.MethodGet, path, map[string]string{"Authorization": token})
			var got struct {
				Error struct{ Message, Type string }
			}
			if err := json.Unmarshal(body, &got); err != nil || status < 400 || got.Error.Message == "" || got.Error.Type == "" {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	})
}
