package a2a_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	legacylib "github.com/a2aproject/a2a-go/a2a"
	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/gateway"
)

type onlyHelper struct{}

func (onlyHelper) MayCall(context.Context, string) bool { return true }

func (onlyHelper) HasAgent(name string) bool {
	return name == "helper" || name == "default" || name == "team/helper" || name == "a~b"
}

// ask sends a request to a server without a store.
func ask(t *testing.T, method, path, body string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	config, own := configOf(nil)
	own.Modified, config.AllowedOrigin = time.Unix(1, 0), "*"
	h := a2a.New(config, own)
	ctx := gateway.WithBase(access.WithCaller(t.Context(), access.Caller{UserID: "alice", Token: "token"}), "https://api.example/live")
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header = header
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	return recorder
}

func rpcCode(t *testing.T, body []byte) int {
	t.Helper()
	var answer struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return answer.Error.Code
}

func TestCard(t *testing.T) {
	card := func(t *testing.T, path string, header http.Header) (map[string]any, http.Header) {
		t.Helper()
		got := ask(t, http.MethodGet, path, "", header)
		var out map[string]any
		if err := json.Unmarshal(got.Body.Bytes(), &out); err != nil || got.Code != http.StatusOK {
			t.Fatalf("%d %v\n%s", got.Code, err, got.Body)
		}
		return out, got.Header()
	}
	t.Run("returns the members of both versions", func(t *testing.T) {
		both, header := card(t, "/a2a/helper/.well-known/agent-card.json", http.Header{})
		if both["url"] != "https://api.example/live/a2a/helper" || both["supportedInterfaces"] == nil {
			t.Errorf("got %v", both)
		}
		for _, name := range []string{"Etag", "Last-Modified", "Cache-Control"} {
			if header.Get(name) == "" {
				t.Errorf("no %s", name)
			}
		}
	})
	t.Run("is read by the clients of both versions", func(t *testing.T) {
		for _, header := range []http.Header{{}, {"A2a-Version": {"1.0"}}, {"A2a-Version": {"0.3"}}} {
			body := ask(t, http.MethodGet, "/a2a/helper/.well-known/agent-card.json", "", header).Body.Bytes()
			want := lib.HTTPAuthSecurityScheme{Scheme: "Bearer", BearerFormat: "JWT"}
			for name, parse := range map[string]agentcard.Parser{"1.0": agentcard.DefaultCardParser, "both": a2av0.NewAgentCardParser()} {
				got, err := parse(body)
				if err != nil || got.SecuritySchemes["bearer"] != want || len(got.SupportedInterfaces) != 4 || !got.Capabilities.Streaming {
					t.Errorf("%v for clients of %s: %+v, %v", header, name, got, err)
				}
			}
			var old legacylib.AgentCard
			if err := json.Unmarshal(body, &old); header.Get("A2a-Version") != "1.0" && (err != nil || len(old.AdditionalInterfaces) != 1 ||
				old.SecuritySchemes["bearer"] != legacylib.HTTPAuthSecurityScheme{Scheme: "Bearer", BearerFormat: "JWT"}) {
				t.Errorf("%v for clients of 0.3: %+v, %v", header, old, err)
			}
		}
	})
	t.Run("returns only 1.0 to clients that ask for it", func(t *testing.T) {
		one, _ := card(t, "/a2a/helper/.well-known/agent-card.json", http.Header{"A2a-Version": {"1.0"}})
		if _, old := one["url"]; old {
			t.Errorf("got %v", one)
		}
	})
	t.Run("addresses an agent in a namespace by one segment", func(t *testing.T) {
		for segment, name := range map[string]string{
			"team~helper": "team/helper", "team%2Fhelper": "team/helper", "team%7Ehelper": "team/helper", "a~b": "a~b",
		} {
			got, _ := card(t, "/a2a/"+segment+"/.well-known/agent-card.json", http.Header{})
			want := "https://api.example/live/a2a/" + strings.Replace(name, "/", "~", 1)
			if got["name"] != name || got["url"] != want {
				t.Errorf("%s is %v at %v", segment, got["name"], got["url"])
			}
			rpc := ask(t, http.MethodPost, "/a2a/"+segment, `{`, http.Header{"Content-Type": {"application/json"}})
			if code := rpcCode(t, rpc.Body.Bytes()); code != -32700 {
				t.Errorf("%s answers %d", segment, code)
			}
		}
	})
	t.Run("returns 404 for an unknown agent", func(t *testing.T) {
		got := ask(t, http.MethodGet, "/a2a/other/.well-known/agent-card.json", "", http.Header{})
		if got.Code != http.StatusNotFound {
			t.Errorf("got %d", got.Code)
		}
	})
}

func TestBadRequests(t *testing.T) {
	const get = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`
	plain := http.Header{"Content-Type": {"application/json"}}
	for _, test := range []struct {
		name, path, body string
		header           http.Header
		code             int
	}{
		{"an unsupported version", "/a2a/helper", get, http.Header{"A2a-Version": {"99.0"}}, -32009},
		{"an unsupported content type", "/a2a/helper", get, http.Header{"Content-Type": {"text/plain"}}, -32005},
		{"invalid JSON", "/a2a/helper/", `{`, plain, -32700},
		{"an unknown method", "/a2a/helper", `{"jsonrpc":"2.0","id":1,"method":"Sing"}`, plain, -32601},
		{"an unknown method of 0.3", "/a2a/helper", `{"jsonrpc":"2.0","id":1,"method":"tasks/sing"}`, plain, -32601},
		{"no message", "/a2a/helper", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`, plain, -32602},
		{
			"a stream without a message", "/a2a/helper",
			`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`, plain, -32602,
		},
		{
			"parts of an unsupported type", "/a2a/helper",
			`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",` +
				`"parts":[{"raw":"aGk=","mediaType":"application/x-none"}]}}}`, plain, -32005,
		},
		{"push notifications that are not offered", "/a2a/helper", `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/get","params":{"id":"t"}}`, plain, -32003},
		{"an unsupported content type over HTTP+JSON", "/a2a/helper/message:send", `x`, http.Header{"Content-Type": {"text/plain"}}, 415},
		{"no message over HTTP+JSON", "/a2a/helper/message:stream", `{}`, plain, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ask(t, http.MethodPost, test.path, test.body, test.header)
			if code := rpcCode(t, got.Body.Bytes()); code != test.code {
				t.Errorf("got %d, not %d: %s", code, test.code, got.Body)
			}
			if kind := got.Header().Get("Content-Type"); kind != "application/json" {
				t.Errorf("the content type is %s", kind)
			}
		})
	}
	t.Run("an unknown agent", func(t *testing.T) {
		if got := ask(t, http.MethodPost, "/a2a/other", get, plain); got.Code != http.StatusNotFound {
			t.Errorf("got %d", got.Code)
		}
	})
}
