package mcp_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/mcp"
	"github.com/rethread/rethread/shared/transport/rest"
	restartifacts "github.com/rethread/rethread/shared/transport/rest/artifacts"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
)

// TestCost checks that a tool takes no more capacity units than the request of the REST
// API that does the same, each on a session of its own with the same content.
func TestCost(t *testing.T) {
	t.Parallel()
	meter := &capacity.Meter{}
	store := stores.New(meter.Around(storetest.Engine(t)), stores.WithCodec(storetest.Codec()), stores.WithLogger(slog.New(slog.DiscardHandler)))
	r := newRig(t, func(c *mcp.Config) {
		c.Sessions, c.Rewinds, c.Artifacts, c.Shares, c.Grants = store.Sessions, store.History, store.Artifacts, store.Shares, store.Shares
	})
	r.store = store
	tools, requests := r.connect(t, alice), handlersOf(store)
	for _, id := range []string{"tool", "rest"} {
		r.create(t, alice, id, strings.Repeat("one ", 500), strings.Repeat("two ", 500), strings.Repeat("three ", 500))
		r.put(t, id, "f", "text/plain", []byte(strings.Repeat("file ", 1000)))
	}
	measure := func(do func()) capacity.Usage {
		before := meter.Total()
		do()
		return meter.Total().Sub(before)
	}
	for _, c := range []struct {
		tool         string
		args         object
		method, path string
		body         string
	}{
		{"list_sessions", object{}, http.MethodGet, "/sessions?limit=20", ""},
		{"search_sessions", object{"query": "Session"}, http.MethodGet, "/sessions?limit=20&q=Session", ""},
		{"get_session", object{"session_id": "tool"}, http.MethodGet, "/sessions/rest", ""},
		{"read_session", object{"session_id": "tool"}, http.MethodGet, "/sessions/rest/events?limit=50", ""},
		{"list_artifacts", object{"session_id": "tool"}, http.MethodGet, "/sessions/rest/artifacts?limit=20", ""},
		{"read_artifact", object{"session_id": "tool", "name": "f"}, http.MethodGet, "/sessions/rest/artifacts/f", ""},
		{
			"fork_session",
			object{"session_id": "tool", "rewind_before_invocation_id": "i2"},
			http.MethodPost, "/sessions/rest/fork", `{"rewind_before_invocation_id": "i2", "strict": true}`,
		},
		{
			"rewind_session",
			object{"session_id": "tool", "rewind_before_invocation_id": "i3"},
			http.MethodPost, "/sessions/rest/rewind", `{"rewind_before_invocation_id": "i3"}`,
		},
	} {
		asTool := measure(func() {
			if got := call(t, tools, c.tool, c.args); got.IsError {
				t.Fatalf("%s: %s", c.tool, text(got))
			}
		})
		asRequest := measure(func() { requests.must(t, c.method, c.path, c.body) })
		t.Logf("%s takes %+v, the request %+v", c.tool, asTool, asRequest)
		if asTool.Reads == 0 || asTool.Reads > asRequest.Reads || asTool.Writes > asRequest.Writes {
			t.Errorf("%s takes %+v, the request %+v", c.tool, asTool, asRequest)
		}
	}
}

// handlers answer requests of alice's to the REST API.
type handlers func(path string) http.Handler

func handlersOf(store *stores.Store) handlers {
	config := rest.Config{
		Sessions: store.Sessions, Rewinds: store.History, Artifacts: store.Artifacts, Idempotency: store.Idempotency, Grants: store.Shares, Shares: store.Shares,
		Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString,
	}
	all := map[string]http.Handler{"events": sessions.Events(config), "artifacts": restartifacts.New(config), "fork": sessions.Fork(config), "rewind": sessions.Rewind(config)}
	others := sessions.Sessions(config)
	return func(path string) http.Handler {
		for name, handler := range all {
			if strings.Contains(path, "/"+name) {
				return handler
			}
		}
		return others
	}
}

func (h handlers) must(t *testing.T, method, path, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(access.WithCaller(t.Context(), access.Caller{UserID: alice, ChangesApp: true}), method, "/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if h(path).ServeHTTP(w, r); w.Code > 299 {
		t.Fatalf("%s %s is answered %d %s", method, path, w.Code, w.Body)
	}
}
