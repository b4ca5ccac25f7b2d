package adk_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	adksession "google.golang.org/adk/v2/session"

	"github.com/rethread/rethread/clients/go/adk"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/artifacts"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
)

const app, alice, bob = "shop", "alice", "bob"

// system is the services, connected to an API with its own table.
type system struct {
	*adk.Services
	store *stores.Store // behind the API
	url   string
}

// users returns the users of these tests and of ADK's own suite.
func users(context.Context, string) ([]string, error) {
	return []string{"user1", "user2", alice, bob}, nil
}

const tokenOf = "token of "

func newSystem(t *testing.T) *system {
	t.Helper()
	store := stores.New(storetest.Engine(t), stores.WithLogger(slog.New(slog.DiscardHandler)))
	server := httptest.NewServer(api(store))
	t.Cleanup(server.Close)
	return &system{newServices(t, server.URL, adk.WithUsers(users)), store, server.URL}
}

func newServices(t *testing.T, url string, options ...adk.Option) *adk.Services {
	t.Helper()
	services, err := adk.NewRemote(adk.Remote{
		URL:   url,
		Token: func(_ context.Context, user string) (string, error) { return tokenOf + user, nil },
	}, options...)
	if err != nil {
		t.Fatal(err)
	}
	return services
}

// api serves the HTTP API's handlers and does what the gateway does before them.
func api(store *stores.Store) http.Handler {
	config := rest.Config{
		Sessions: store.Sessions, Rewinds: store.History, Artifacts: store.Artifacts, Tasks: store.Tasks, Feedback: store.Feedback, Idempotency: store.Idempotency, Grants: store.Shares, Shares: store.Shares,
		Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString,
	}
	rewind, fork, artifacts := sessions.Rewind(config), sessions.Fork(config), artifacts.New(config)
	events, sessions := sessions.Events(config), sessions.Sessions(config)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "+tokenOf)
		r = r.WithContext(access.WithCaller(r.Context(), access.Caller{UserID: user, ChangesApp: true}))
		handler := sessions
		switch path := r.URL.Path; {
		case strings.Contains(path, "/artifacts"):
			handler = artifacts
		case strings.HasSuffix(path, "/events"):
			handler = events
		case strings.HasSuffix(path, "/rewind"):
			handler = rewind
		case strings.HasSuffix(path, "/fork"):
			handler = fork
		}
		handler.ServeHTTP(w, r)
	})
}

func (s *system) mustCreate(t *testing.T, user, id string, state map[string]any) adksession.Session {
	t.Helper()
	made, err := s.Sessions.Create(t.Context(), &adksession.CreateRequest{AppName: app, UserID: user, SessionID: id, State: state})
	if err != nil {
		t.Fatal(err)
	}
	return made.Session
}

func (s *system) mustGet(t *testing.T, id string) adksession.Session {
	t.Helper()
	got, err := s.Sessions.Get(t.Context(), get(id))
	if err != nil {
		t.Fatal(err)
	}
	return got.Session
}

func get(id string) *adksession.GetRequest {
	return &adksession.GetRequest{AppName: app, UserID: alice, SessionID: id}
}

func (s *system) mustAppend(t *testing.T, to adksession.Session, events ...*adksession.Event) {
	t.Helper()
	for _, e := range events {
		if err := s.Sessions.AppendEvent(t.Context(), to, e); err != nil {
			t.Fatal(err)
		}
	}
}

// changing returns an event of an invocation that changes state.
func changing(invocation string, delta map[string]any) *adksession.Event {
	return &adksession.Event{
		ID: uuid.NewString(), InvocationID: invocation, Author: "agent",
		Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC),
		Actions:   adksession.EventActions{StateDelta: delta},
	}
}

func invocations(s adksession.Session) []string {
	out := []string{}
	for e := range s.Events().All() {
		out = append(out, e.InvocationID)
	}
	return out
}

func stateOf(s adksession.Session) map[string]any {
	out := map[string]any{}
	for key, v := range s.State().All() {
		out[key] = v
	}
	return out
}
