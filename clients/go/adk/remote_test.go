package adk_test

import (
	"context"
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
	adkartifact "google.golang.org/adk/v2/artifact"
	adksession "google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/rethread/rethread/clients/go/adk"
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

func start(t *testing.T, script ...http.HandlerFunc) (*adk.Services, *server) {
	t.Helper()
	s := &server{script: script}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	services, err := adk.NewRemote(adk.Remote{URL: listening.URL + "/", Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return services, s
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

const (
	sessionBody = `{"data":{"id":"s","user_id":"alice","app_name":"shop","head_seq":2}}`
	stateBody   = `{"data":{"merged":{}}}`
)

func creating(state map[string]any) *adksession.CreateRequest {
	return &adksession.CreateRequest{AppName: "shop", UserID: "alice", SessionID: "s", State: state}
}

func getting() *adksession.GetRequest {
	return &adksession.GetRequest{AppName: "shop", UserID: "alice", SessionID: "s"}
}

func deleting() *adksession.DeleteRequest {
	return &adksession.DeleteRequest{AppName: "shop", UserID: "alice", SessionID: "s"}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	services, s := start(t,
		responds(201, sessionBody), responds(200, stateBody),
		responds(201, `{"data":[{"id":"e","seq":3}]}`), responds(200, sessionBody), responds(204, ""),
	)
	made, err := services.Sessions.Create(ctx, creating(map[string]any{"k": "<&>"}))
	if err != nil {
		t.Fatal(err)
	}
	event := &adksession.Event{
		ID: "e", InvocationID: "i", Author: "a", Timestamp: time.Unix(1, 0),
		Actions: adksession.EventActions{StateDelta: map[string]any{"big": 9007199254740993, "html": "<&>"}},
	}
	if err := services.Sessions.AppendEvent(ctx, made.Session, event); err != nil {
		t.Fatal(err)
	}
	if err := services.Sessions.Delete(ctx, deleting()); err != nil {
		t.Fatal(err)
	}
	const bearer = "Bearer token-alice"
	got := s.seen()
	if got[0].Key == "" {
		t.Error("the creation has no key, so it cannot be repeated")
	}
	got[0].Key = ""
	got[2].Body, _, _ = strings.Cut(got[2].Body, `"timestamp"`)
	want := []asked{
		{"POST", "/api/v1/sessions", "", bearer, "application/json", `{"id":"s","app_name":"shop","state":{"k":"<&>"}}`},
		{"GET", "/api/v1/sessions/s/state", "", bearer, "", ""},
		{
			"POST", "/api/v1/sessions/s/events", "", bearer, "application/json",
			`{"events":[{"actions":{"state_delta":{"big":9007199254740993,"html":"<&>"}},"author":"a","id":"e","invocation_id":"i",`,
		},
		{"GET", "/api/v1/sessions/s", "", bearer, "", ""},
		{"DELETE", "/api/v1/sessions/s", "", bearer, "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	t.Run("with the same key after 503, 429 and a broken connection", func(t *testing.T) {
		t.Parallel()
		services, s := start(t, responds(503, "{}"), disconnects, responds(429, "{}"), responds(201, sessionBody), responds(200, stateBody))
		if _, err := services.Sessions.Create(t.Context(), creating(nil)); err != nil {
			t.Fatal(err)
		}
		for _, a := range s.seen()[:4] {
			if a.Key == "" || a.Key != s.seen()[0].Key {
				t.Errorf("key %q", a.Key)
			}
		}
	})
	t.Run("after the time in Retry-After", func(t *testing.T) {
		t.Parallel()
		services, _ := start(t, responds(429, "{}", "Retry-After", "1"), responds(404, "{}"))
		began := time.Now()
		if err := services.Sessions.Delete(t.Context(), deleting()); err != nil || time.Since(began) < time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
	t.Run("not if the request could be executed twice", func(t *testing.T) {
		t.Parallel()
		for _, answer := range []http.HandlerFunc{responds(503, "{}"), disconnects} {
			services, s := start(t, answer)
			_, err := services.Artifacts.Save(t.Context(), &adkartifact.SaveRequest{
				AppName: "shop", UserID: "alice", SessionID: "s", FileName: "f", Part: genai.NewPartFromText("x"),
			})
			if err == nil || len(s.seen()) != 1 {
				t.Errorf("asked %d times: %v", len(s.seen()), err)
			}
		}
	})
	t.Run("not after the caller's context has ended", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		services, s := start(t, func(w http.ResponseWriter, _ *http.Request) {
			cancel()
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		if _, err := services.Sessions.Get(ctx, getting()); !errors.Is(err, context.Canceled) || len(s.seen()) != 1 {
			t.Errorf("asked %d times: %v", len(s.seen()), err)
		}
	})
	t.Run("with another token after one was rejected", func(t *testing.T) {
		t.Parallel()
		s := &server{script: []http.HandlerFunc{responds(401, "{}"), responds(404, "{}")}}
		listening := httptest.NewServer(s)
		t.Cleanup(listening.Close)
		calls := 0
		services, err := adk.NewRemote(adk.Remote{URL: listening.URL, Token: func(context.Context, string) (string, error) {
			calls++
			return strings.Repeat("x", calls), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := services.Sessions.Delete(t.Context(), deleting()); err != nil {
			t.Fatal(err)
		}
		if got := s.seen(); got[0].Token != "Bearer x" || got[1].Token != "Bearer xx" {
			t.Errorf("asked with %q and %q", got[0].Token, got[1].Token)
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]error{
		400: adk.ErrMalformed, 401: adk.ErrUnauthorized, 403: adk.ErrForbidden, 404: adk.ErrNotFound,
		409: adk.ErrConflict, 413: adk.ErrTooLarge, 422: adk.ErrInvalid,
	} {
		services, _ := start(t, slices.Repeat([]http.HandlerFunc{
			responds(status, `{"type":"about:blank","title":"x","detail":"the reason","head_seq":7}`),
		}, 5)...)
		_, err := services.Sessions.Get(t.Context(), getting())
		var e *adk.Error
		if !errors.As(err, &e) || !errors.Is(err, kind) || e.Status != status || e.Detail != "the reason" ||
			e.Members["head_seq"] != 7.0 || len(e.Members) != 1 {
			t.Errorf("%d: %v", status, err)
		}
		for _, other := range []error{adk.ErrMalformed, adk.ErrInvalid, adk.ErrConflict} {
			if other != kind && errors.Is(err, other) { //nolint:errorlint // which of the two it is
				t.Errorf("%d is also %v", status, other)
			}
		}
	}
	services, _ := start(t, responds(500, `{"detail":"Internal error.","request_id":"r-1"}`))
	if _, err := services.Sessions.Get(t.Context(), getting()); err == nil || !strings.Contains(err.Error(), "r-1") {
		t.Errorf("500: %v", err)
	}
	services, _ = start(t, responds(403, `<html>`))
	if _, err := services.Sessions.Get(t.Context(), getting()); !errors.Is(err, adk.ErrForbidden) {
		t.Errorf("a response without a problem: %v", err)
	}
	services, _ = start(t, responds(200, `not JSON`))
	if _, err := services.Sessions.Get(t.Context(), getting()); err == nil {
		t.Error("a response that is not JSON was accepted")
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	services, s := start(t,
		responds(200, `{"data":[{"name":"a"},{"name":"b"}],"meta":{"next_cursor":"c+1"}}`),
		responds(200, `{"data":[{"name":"c"}],"meta":{"next_cursor":null}}`),
		responds(404, `{"detail":"gone"}`),
	)
	listing := &adkartifact.ListRequest{AppName: "shop", UserID: "alice", SessionID: "s"}
	got, err := services.Artifacts.List(t.Context(), listing)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, got.FileNames); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if uri := s.seen()[1].URI; uri != "/api/v1/sessions/s/artifacts?cursor=c%2B1&limit=1000" {
		t.Errorf("second page: %s", uri)
	}
	if got, err := services.Artifacts.List(t.Context(), listing); err != nil || len(got.FileNames) != 0 {
		t.Errorf("of a missing session: %v, %v", got, err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]adk.Remote{
		"no address":     {Token: token},
		"no host":        {URL: "http:///x", Token: token},
		"another scheme": {URL: "ftp://example.com", Token: token},
		"no tokens":      {URL: "https://example.com"},
	} {
		if _, err := adk.NewRemote(r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	none := errors.New("signed out")
	services, err := adk.NewRemote(adk.Remote{
		URL: "https://example.com", Token: func(context.Context, string) (string, error) { return "", none },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := services.Sessions.Get(t.Context(), getting()); !errors.Is(err, none) {
		t.Errorf("without a token: %v", err)
	}
}
