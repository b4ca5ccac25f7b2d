package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/clients/go/adk/internal/remote"
)

// asked is a received request.
type asked struct{ Method, URI, Key, Token, Type, Body string }

// server answers each request with the next handler of a script, and records it.
type server struct {
	mu     sync.Mutex
	script []http.HandlerFunc
	asked  []asked
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil || len(s.script) == 0 {
		http.Error(w, "unexpected request", http.StatusTeapot)
		return
	}
	s.asked = append(s.asked, asked{
		r.Method, r.RequestURI, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"),
		r.Header.Get("Content-Type"), string(body),
	})
	answer := s.script[0]
	s.script = s.script[1:]
	answer(w, r)
}

// seen returns the requests received so far.
func (s *server) seen() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func start(t *testing.T, script ...http.HandlerFunc) (*remote.Client, *server) {
	t.Helper()
	s := &server{script: script}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	client, err := remote.New(remote.Config{URL: listening.URL + "/", Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return client, s
}

func token(_ context.Context, user string) (string, error) { return "token-" + user, nil }

// responds answers with a status and a body; header has pairs of names and values.
func responds(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the test fails if it is incomplete
	}
}

// disconnects closes the connection without a response.
func disconnects(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const sessionBody = `{"data":{"id":"s","user_id":"alice","app_name":"shop"}}`

func TestRequests(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	client, s := start(t,
		responds(201, sessionBody), responds(200, sessionBody), responds(204, ""),
		responds(201, `{"data":[{"id":"e","seq":3,"session_id":"s","status":"completed","created_time":9,"invocation_id":"i","author":"a"}]}`),
	)
	_, err := client.Create(ctx, remote.Create{
		ID: "s", UserID: "alice", AppName: "shop", Key: "n-1", State: remote.Values{"k": json.RawMessage(`"<&>"`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Get(ctx, "alice", "a b?"); err != nil || got.AppName != "shop" {
		t.Fatal(got, err)
	}
	if err := client.Delete(ctx, "alice", "s"); err != nil {
		t.Fatal(err)
	}
	head := int64(2)
	stored, err := client.Append(ctx, remote.Append{
		SessionID: "s", UserID: "alice", ExpectedSeq: &head,
		Event: json.RawMessage(`{"id":"e","invocation_id":"i","author":"a"}`),
	})
	if err != nil || stored.Seq != 3 || stored.CreatedTime != 9 || !strings.Contains(string(stored.Raw), `"invocation_id":"i"`) {
		t.Fatal(stored, err)
	}
	const bearer = "Bearer token-alice"
	want := []asked{
		{"POST", "/api/v1/sessions", "n-1", bearer, "application/json", `{"app_name":"shop","id":"s","state":{"k":"<&>"}}`},
		{"GET", "/api/v1/sessions/a%20b%3F", "", bearer, "", ""},
		{"DELETE", "/api/v1/sessions/s", "", bearer, "", ""},
		{
			"POST", "/api/v1/sessions/s/events", "", bearer, "application/json",
			`{"events":[{"id":"e","invocation_id":"i","author":"a"}],"expected_seq":2}`,
		},
	}
	if diff := cmp.Diff(want, s.seen()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	t.Run("with the same key after 503, 429 and a broken connection", func(t *testing.T) {
		t.Parallel()
		client, s := start(t, responds(503, "{}"), disconnects, responds(429, "{}"), responds(201, sessionBody))
		if _, err := client.Create(t.Context(), remote.Create{ID: "s", UserID: "alice", Key: "n-1"}); err != nil {
			t.Fatal(err)
		}
		for _, a := range s.seen() {
			if a.Key != "n-1" {
				t.Errorf("key %q", a.Key)
			}
		}
	})
	t.Run("after the time in Retry-After", func(t *testing.T) {
		t.Parallel()
		client, _ := start(t, responds(429, "{}", "Retry-After", "1"), responds(200, sessionBody))
		began := time.Now()
		if _, err := client.Get(t.Context(), "alice", "s"); err != nil || time.Since(began) < time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
	t.Run("not if the request could be executed twice", func(t *testing.T) {
		t.Parallel()
		for _, answer := range []http.HandlerFunc{responds(503, "{}"), disconnects} {
			client, s := start(t, answer)
			_, err := client.PutArtifact(t.Context(), remote.Put{SessionID: "s", UserID: "alice", Name: "f", MimeType: "a/b"})
			if err == nil || len(s.seen()) != 1 {
				t.Errorf("asked %d times: %v", len(s.seen()), err)
			}
		}
	})
	t.Run("not after the caller's context has ended", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		client, s := start(t, func(w http.ResponseWriter, _ *http.Request) {
			cancel()
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		if _, err := client.Get(ctx, "alice", "s"); !errors.Is(err, context.Canceled) || len(s.seen()) != 1 {
			t.Errorf("asked %d times: %v", len(s.seen()), err)
		}
	})
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]error{
		400: remote.ErrMalformed, 401: remote.ErrUnauthorized, 403: remote.ErrForbidden, 404: remote.ErrNotFound,
		409: remote.ErrConflict, 412: remote.ErrPrecondition, 413: remote.ErrTooLarge, 422: remote.ErrInvalid,
	} {
		client, _ := start(t, responds(status, `{"type":"about:blank","title":"x","detail":"the reason","head_seq":7}`))
		_, err := client.Get(t.Context(), "alice", "s")
		var e *remote.Error
		if !errors.As(err, &e) || !errors.Is(err, kind) || e.Status != status || e.Detail != "the reason" ||
			e.Members["head_seq"] != 7.0 || len(e.Members) != 1 {
			t.Errorf("%d: %v", status, err)
		}
	}
	client, _ := start(t, responds(500, `{"detail":"Internal error.","request_id":"r-1"}`))
	_, err := client.Get(t.Context(), "alice", "s")
	var e *remote.Error
	if err == nil || errors.As(err, &e) || !strings.Contains(err.Error(), "r-1") {
		t.Errorf("500: %v", err)
	}
	client, _ = start(t, responds(403, `<html>`))
	if _, err = client.Get(t.Context(), "alice", "s"); !errors.Is(err, remote.ErrForbidden) {
		t.Errorf("a response without a problem: %v", err)
	}
	client, _ = start(t, responds(200, `not JSON`))
	if _, err = client.Get(t.Context(), "alice", "s"); err == nil {
		t.Error("a response that is not JSON was accepted")
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	client, s := start(t,
		responds(200, `{"data":[{"name":"a"},{"name":"b"}],"meta":{"next_cursor":"c+1"}}`),
		responds(200, `{"data":[{"name":"c"}],"meta":{"next_cursor":null}}`),
		responds(404, `{"detail":"gone"}`),
	)
	var got []string
	for v, err := range client.AllArtifacts(t.Context(), "alice", "s") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if uri := s.seen()[1].URI; uri != "/api/v1/sessions/s/artifacts?cursor=c%2B1&limit=1000" {
		t.Errorf("second page: %s", uri)
	}
	for _, err := range client.AllArtifacts(t.Context(), "alice", "s") {
		if !errors.Is(err, remote.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]remote.Config{
		"no address":     {Token: token},
		"no host":        {URL: "http:///x", Token: token},
		"another scheme": {URL: "ftp://example.com", Token: token},
		"no tokens":      {URL: "https://example.com"},
	} {
		if _, err := remote.New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	none := errors.New("signed out")
	client, err := remote.New(remote.Config{
		URL: "https://example.com", Token: func(context.Context, string) (string, error) { return "", none },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), "alice", "s"); !errors.Is(err, none) {
		t.Errorf("without a token: %v", err)
	}
}
