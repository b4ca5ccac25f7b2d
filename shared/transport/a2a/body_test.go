package a2a_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
)

// Bodies that the protocol's library would accept or alter silently are
// answered with the protocol's own error in every binding; in JSON-RPC with the
// request's id.
func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	h := a2a.New(configOf(stores.New(storetest.Engine(t))))
	const (
		rpc, send, stream = "/a2a/helper", "/a2a/helper/message:send", "/a2a/helper/message:stream"
		oldSend           = "/a2a/helper/v1/message:send"
		oldStream         = "/a2a/helper/v1/message:stream"
	)
	wrap := func(method, message string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + message + `}}`
	}
	const half = `"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"\ud800"}]}`
	const bytes = "\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"\xff\"}]}"
	const oldBytes = "\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"content\":[{\"text\":\"\xff\"}]}"
	deep := `"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],"metadata":{"a":` +
		strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}`
	for name, c := range map[string]struct{ version, path, body, says string }{
		"null, 0.3":                        {"", rpc, wrap("message/send", `"message":null`), "message"},
		"no message, 0.3":                  {"", rpc, wrap("message/stream", ``), "message"},
		"null":                             {"1.0", rpc, wrap("SendMessage", `"message":null`), "message"},
		"no message":                       {"1.0", rpc, wrap("SendStreamingMessage", ``), "message"},
		"half a character, 0.3":            {"", rpc, wrap("message/send", half), "/params/message/parts/0/text"},
		"invalid UTF-8":                    {"1.0", rpc, wrap("SendMessage", bytes), "/params/message/parts/0/text"},
		"null over HTTP":                   {"1.0", send, `{"message":null}`, "message"},
		"no message over HTTP":             {"1.0", stream, `{}`, "message"},
		"half a character over HTTP":       {"1.0", send, `{` + half + `}`, "/message/parts/0/text"},
		"invalid UTF-8 over HTTP":          {"1.0", stream, `{` + bytes + `}`, "/message/parts/0/text"},
		"nested too deeply over HTTP":      {"1.0", send, `{` + deep + `}`, "nested"},
		"a number over HTTP":               {"1.0", send, `5`, "parse"},
		"null over HTTP, 0.3":              {"", oldSend, `{"message":null}`, "message"},
		"no message over HTTP, 0.3":        {"", oldStream, `{}`, "message"},
		"half a character over HTTP, 0.3":  {"", oldSend, `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"\ud800"}]}}`, "/message/content/0/text"},
		"invalid UTF-8 over HTTP, 0.3":     {"", oldStream, `{` + oldBytes + `}`, "/message/content/0/text"},
		"null under the proto name, 0.3":   {"", oldSend, `{"request":null}`, "message"},
		"half a character in a push, HTTP": {"1.0", "/a2a/helper/tasks/t/pushNotificationConfigs", `{"url":"https://a.example/\ud800"}`, "/url"},
		"null for a push, HTTP":            {"1.0", "/a2a/helper/tasks/t/pushNotificationConfigs", `null`, ""},
		"null for a push, HTTP, 0.3":       {"", "/a2a/helper/v1/tasks/t/pushNotificationConfigs", `null`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := post(t, h, c.version, c.path, c.body)
			answer, want := got.Body.String(), 400
			if c.path == rpc {
				want = -32602
			}
			if code := rpcCode(t, eventData(got.Body.Bytes())); code != want || !strings.Contains(answer, c.says) || goTypeError.MatchString(answer) {
				t.Errorf("%d %s", got.Code, answer)
			}
			if c.path == rpc && (got.Code != http.StatusOK || !strings.Contains(answer, `"id":7`)) || c.path != rpc && got.Code != want {
				t.Errorf("%d %s", got.Code, answer)
			}
		})
	}
}

// Invalid parameters in the path or the query of HTTP+JSON are client errors.
func TestInvalidQueries(t *testing.T) {
	t.Parallel()
	h := a2a.New(configOf(stores.New(storetest.Engine(t))))
	long := strings.Repeat("x", 3000)
	for _, path := range []string{
		"/tasks?contextId=%ff", "/tasks?contextId=a%00b", "/tasks?contextId=" + long, "/tasks?pageToken=%ff", "/tasks?pageToken=-1",
		"/tasks?pageSize=x", "/tasks?pageSize=99999999999999999999", "/tasks?historyLength=x", "/tasks?statusTimestampAfter=yesterday",
		"/tasks?status=%ff", "/tasks/%ff", "/tasks/" + long, "/tasks/t?historyLength=1e9", "/tasks/%00",
		"/tasks/%ff/pushNotificationConfigs", "/tasks/t/pushNotificationConfigs/%ff", "/tasks?contextId=%zz",
	} {
		for _, prefix := range []string{"/a2a/helper", "/a2a/helper/v1"} {
			at, err := url.ParseRequestURI(prefix + path)
			if err != nil {
				continue // the gateway refuses it
			}
			r := httptest.NewRequestWithContext(access.WithCaller(t.Context(), access.Caller{UserID: alice, Token: "token"}), http.MethodGet, "/", http.NoBody)
			r.URL = at
			got := httptest.NewRecorder()
			h.ServeHTTP(got, r)
			if got.Code >= 500 || goTypeError.Match(got.Body.Bytes()) {
				t.Errorf("%.60s: %d %s", at, got.Code, got.Body)
			}
		}
	}
}
