package a2a_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/frontend"
)

var errNoWorker = errors.New("no worker")

// configOf returns the configuration that all servers of these tests share.
// store may be nil for requests answered without one. No worker accepts runs
// unless a test sets StartRun.
func configOf(store *stores.Store) (frontend.Config, a2a.Config) {
	if store == nil {
		store = &stores.Store{}
	}
	return frontend.Config{
		Sessions: store.Sessions, Rewinds: store.History, Runs: store.Runs, Grants: store.Shares, Agents: onlyHelper{},
		StartRun: func(context.Context, run.Ref) error { return errNoWorker },
		Log:      slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString, CheckEvery: checkEvery,
	}, a2a.Config{Tasks: store.Tasks, Links: store.Tasks}
}

// post sends a JSON body as alice; version "" stands for clients of 0.3.
func post(t testing.TB, h http.Handler, version, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	ctx := access.WithCaller(t.Context(), access.Caller{UserID: alice, Token: "token"})
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if version != "" {
		r.Header.Set("A2A-Version", version)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// goTypeError matches words of Go's own error messages, which must not leave
// the server.
var goTypeError = regexp.MustCompile(`Go (value|struct)|json: |cannot unmarshal|interface \{\}|sessions|map\[string\]|runtime error|` +
	`strconv|net/url|invalid URL escape|illegal base64|parsing time|proto:|a2asrv|pbjson`)
