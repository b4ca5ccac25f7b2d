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

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
)

var errNoWorker = errors.New("no worker")

// configOf is what all servers of these tests have in common. A nil store is for
// what is answered without one. No worker can be had, until a test has one.
func configOf(store *stores.Store) a2a.Config {
	return a2a.Config{
		Sessions: store, Rewinds: store, Runs: store, Tasks: store, Links: store, Grants: store, Agents: onlyHelper{},
		StartRun: func(context.Context, run.Ref) error { return errNoWorker },
		Log:      slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString, CheckEvery: checkEvery,
	}
}

// post sends a body of JSON as alice; version "" is what clients of 0.3 say.
func post(t testing.TB, h http.Handler, version, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	ctx := a2a.WithCaller(t.Context(), alice, "token")
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if version != "" {
		r.Header.Set("A2A-Version", version)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// goWords are what Go's own messages have in them and ours never do.
var goWords = regexp.MustCompile(`Go (value|struct)|json: |cannot unmarshal|interface \{\}|sessions|map\[string\]|runtime error|` +
	`strconv|net/url|invalid URL escape|illegal base64|parsing time|proto:|a2asrv|pbjson`)
