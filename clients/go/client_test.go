package rethread_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/clients/go/watch/view"
)

// answering returns a client of a server that answers with f.
func answering(t *testing.T, f http.HandlerFunc) *rethread.Client {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	client, err := rethread.New(rethread.Config{
		URL: server.URL, StreamURL: server.URL, Token: rethread.StaticToken("alice"), Random: func() float64 { return 0.5 },
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestWithTokenIsAClientForAnotherUser(t *testing.T) {
	t.Parallel()
	client := answering(t, func(w http.ResponseWriter, r *http.Request) {
		user := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]string{"id": "s", "user_id": user}})
	})
	other := client.WithToken(rethread.StaticToken("bob"))
	for want, c := range map[string]*rethread.Client{"alice": client, "bob": other} {
		if got, err := c.Sessions.Get(t.Context(), "s"); err != nil || got.UserID != want {
			t.Errorf("%s: got %+v, %v", want, got, err)
		}
	}
}

func TestAgentsAreAtTheAddressForStreams(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.EscapedPath())
		_, _ = w.Write([]byte("{}")) // the test fails if it is incomplete
	}))
	defer server.Close()
	client, err := rethread.New(rethread.Config{
		URL: "http://api.invalid/api/v1", StreamURL: server.URL + "/live/api/v1", Token: rethread.StaticToken("alice"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"", "writer", "team/writer"} {
		if _, err := client.A2A.Card(t.Context(), agent); err != nil {
			t.Error(err)
		}
	}
	if _, err := client.A2A.Keys(t.Context()); err != nil {
		t.Error(err)
	}
	want := []string{
		"/live/.well-known/agent-card.json", "/live/a2a/writer/.well-known/agent-card.json",
		"/live/a2a/team~writer/.well-known/agent-card.json", "/live/a2a/.well-known/jwks.json",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
}

func TestEventsAsKeepsWhatTheServerSent(t *testing.T) {
	t.Parallel()
	const stored = `{"seq":1,"actions":{"state_delta":{"big":9007199254740993}}}`
	client := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[` + stored + `],"meta":{"next_cursor":null}}`)) // the test fails if it is incomplete
	})
	got, err := rethread.EventsAs[json.RawMessage](client.Events, "s", rethread.EventQuery{}).Collect(t.Context())
	if err != nil || len(got) != 1 || string(got[0]) != stored {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestErrorsTellMalformedRequestsFromBrokenRules(t *testing.T) {
	t.Parallel()
	for status, kinds := range map[int][2]bool{400: {true, false}, 422: {false, true}} {
		client := answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := client.Sessions.Get(t.Context(), "s")
		got := [2]bool{errors.Is(err, rethread.ErrMalformed), errors.Is(err, rethread.ErrRuleBroken)}
		if got != kinds || !errors.Is(err, rethread.ErrInvalid) {
			t.Errorf("%d: got %v, %v", status, got, err)
		}
	}
}

func TestACallWhoseContextEndsBetweenAttemptsFailsWithItsCause(t *testing.T) {
	t.Parallel()
	left := errors.New("the user has left")
	ctx, leave := context.WithCancelCause(t.Context())
	client := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "20") // no further attempt comes first
		w.WriteHeader(http.StatusServiceUnavailable)
		time.AfterFunc(50*time.Millisecond, func() { leave(left) })
	})
	if _, err := client.Sessions.Get(ctx, "s"); !errors.Is(err, left) {
		t.Errorf("got %v", err)
	}
}

// The thread of two pages is rewound before the second one is read.
func TestViewStartsAgainAfterARewind(t *testing.T) {
	t.Parallel()
	page := func(item, next string) string {
		return `{"data":{"status":"idle","cursor":"0.2.0","items":[{"id":"` + item + `","seq":1,"invocation_id":"i","author":"user","status":"completed"}]},` +
			`"meta":{"next_cursor":` + next + `}}`
	}
	var asked []string
	client := answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("cursor"))
		switch len(asked) {
		case 1:
			_, _ = w.Write([]byte(page("old", `"more"`))) // the test fails if it is incomplete
		case 2:
			w.WriteHeader(http.StatusConflict)
		default:
			_, _ = w.Write([]byte(page("new", "null")))
		}
	})
	thread, err := client.Thread.View(t.Context(), "s")
	if err != nil || !slices.Equal(asked, []string{"", "more", ""}) {
		t.Fatalf("asked for %q: %v", asked, err)
	}
	state := view.NewState()
	state.Replace(thread, time.Now())
	if items := state.Show().Items; len(items) != 1 || items[0].ID != "new" {
		t.Errorf("got %+v", items)
	}
}
