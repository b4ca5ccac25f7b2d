package entrances_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
	"github.com/rethread/rethread/shared/transport/agui"
	"github.com/rethread/rethread/shared/transport/aisdk"
	"github.com/rethread/rethread/shared/transport/follow"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/mcp"
	"github.com/rethread/rethread/shared/transport/openresponses"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/archives"
	"github.com/rethread/rethread/shared/transport/rest/artifacts"
	"github.com/rethread/rethread/shared/transport/rest/hooks"
	restruns "github.com/rethread/rethread/shared/transport/rest/runs"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
	"github.com/rethread/rethread/shared/transport/rest/tasks"
)

const alice = "alice"

// system is all entrances over one store.
type system struct {
	store *stores.Store
	clock *clock
	link  string         // the header Link of the last answer
	made  map[int]string // ids of entries of lists, by number

	onlyTrusted bool // who may change the state of apps

	rest                          []route
	a2a, agui, aisdk, openai, mcp http.Handler
}

// route is a handler of REST and what its paths contain.
type route struct {
	has     string
	handler http.Handler
}

// clock makes each reading later than the one before.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(time.Millisecond)
	return c.at
}

// agents are the configured ones: helper alone.
type agents struct{}

func (agents) HasAgent(name string) bool    { return name == "helper" || name == "secret" }
func (agents) AgentNames() []string         { return []string{"helper", "secret"} }
func (agents) Obeys(string) map[string]bool { return map[string]bool{"tools": true} }
func (agents) ClientTools(string) []string  { return nil }

// MayCall lets bob alone call secret.
func (agents) MayCall(ctx context.Context, name string) bool {
	return name != "secret" || access.CallerOf(ctx).UserID == "bob"
}

// Proof names the caller.
func (agents) Proof(ctx context.Context, _ string) []string {
	return []string{"sub=" + access.CallerOf(ctx).UserID}
}

var (
	errNoWorker = errors.New("no worker")
	errNoSocket = errors.New("no socket")
)

// No worker accepts a run, so each ends as soon as it has begun.
func noWorker(context.Context, run.Ref) error { return errNoWorker }

func noSocket(context.Context, access.Caller, string, watch.Cursor) (follow.Watcher, error) {
	return nil, errNoSocket
}

func newSystem(t testing.TB) *system {
	t.Helper()
	return newSystemOver(t, storetest.Engine(t), slog.New(slog.DiscardHandler))
}

func newSystemOver(t testing.TB, engine table.Engine, log *slog.Logger) *system {
	t.Helper()
	s := &system{clock: &clock{at: time.Now()}, made: map[int]string{}}
	s.store = stores.New(engine, stores.WithCodec(storetest.Codec()), stores.WithClock(s.clock.now))
	s.rest = routes(rest.Config{
		A2ATasks: a2aconvert.Reader{Sessions: s.store.Sessions, Tasks: s.store.Tasks}.SessionTasks,
		Sessions: s.store.Sessions, Rewinds: s.store.History, Artifacts: s.store.Artifacts, Tasks: s.store.Tasks, Feedback: s.store.Feedback, Idempotency: s.store.Idempotency,
		Grants: s.store.Shares, Shares: s.store.Shares, Runs: s.store.Runs, Agents: agents{}, StartRun: noWorker, Automations: s.store.Automations,
		Erasures: s.store.Lifecycle, Quotas: s.store.Runs, Exports: s.store.Archives, Imports: s.store.Archives, NewToken: rand.Text, Webhooks: s.store.Webhooks,
		CheckURL: func(string) error { return nil }, NewSecret: func() (receiver.Secret, error) { return receiver.NewSecret(rand.Reader) },
		Log: log, Now: s.clock.now, NewID: uuid.NewString,
	})
	front := frontend.Config{
		Sessions: s.store.Sessions, Rewinds: s.store.History, Runs: s.store.Runs, Agents: agents{}, Grants: s.store.Shares, StartRun: noWorker,
		Watch: noSocket, Unseen: s.store.Watching, Log: log, Now: s.clock.now, NewID: uuid.NewString,
	}
	s.a2a = a2a.New(front, a2a.Config{Tasks: s.store.Tasks, Links: s.store.Tasks, Push: s.store.Pushes, CheckURL: func(string) error { return nil }})
	s.agui, s.aisdk, s.openai = agui.New(front), aisdk.New(front), openresponses.New(front, agents{})
	var err error
	s.mcp, err = mcp.New(mcp.Config{
		Sessions: s.store.Sessions, Rewinds: s.store.History, Artifacts: s.store.Artifacts, Shares: s.store.Shares, Grants: s.store.Shares,
		Log: log, Now: s.clock.now, NewID: uuid.NewString,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// routes are the handlers of REST; the first whose paths contain a path's part is its.
func routes(c rest.Config) []route {
	tasks, shares := tasks.New(c), sessions.Shares(c)
	return []route{
		{"/sessions/import", archives.Import(c)},
		{"/webhooks", hooks.Webhooks(c)},
		{"/automations", hooks.Automations(c)},
		{"/me/", sessions.Erasure(c)},
		{"/shares", shares},
		{"/access", shares},
		{"/artifacts", artifacts.New(c)},
		{"/export", archives.Export(c)},
		{"/runs", restruns.New(c)},
		{"/thread", restruns.New(c)},
		{"/tasks", tasks},
		{"/messages", tasks},
		{"/feedback", tasks},
		{"/events", sessions.Events(c)},
		{"/rewind", sessions.Rewind(c)},
		{"/fork", sessions.Fork(c)},
		{"/sessions", sessions.Sessions(c)},
	}
}

// ServeHTTP chooses the handler of a path.
func (s *system) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	caller := access.Caller{UserID: r.Header.Get("User"), Token: "token", Service: r.Header.Get("Service")}
	caller.ChangesApp = !s.onlyTrusted || caller.Service != ""
	r = r.WithContext(access.WithCaller(records.Fencing(r.Context()), caller))
	path := r.URL.EscapedPath()
	for prefix, h := range map[string]http.Handler{
		"/a2a/": s.a2a, "/agui/": s.agui, "/ai-sdk/": s.aisdk, "/v1/": s.openai, "/mcp": s.mcp,
	} {
		if strings.HasPrefix(path, prefix) {
			h.ServeHTTP(w, r)
			return
		}
	}
	for _, of := range s.rest {
		if strings.Contains(path, of.has) {
			of.handler.ServeHTTP(w, r)
			return
		}
	}
	http.NotFound(w, r)
}

// request is a request of alice's, with a body in JSON unless header says otherwise.
type request struct {
	method, path, body string
	header             map[string]string
}

func get(path string) request        { return request{method: http.MethodGet, path: path} }
func post(path, body string) request { return request{method: http.MethodPost, path: path, body: body} }

func put(path string) request { return request{method: http.MethodPut, path: path, body: "x"} }
func del(path string) request { return request{method: http.MethodDelete, path: path} }

func (s *system) do(t testing.TB, r request) (status int, body string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), r.method, r.path, strings.NewReader(r.body))
	req.Header.Set("User", alice)
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(r.path, "/mcp") {
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	if strings.HasPrefix(r.path, "/a2a/") {
		req.Header.Set("A2A-Version", "1.0")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	s.link = w.Header().Get("Link")
	raw, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(raw)
}

// must sends a request that has to be answered with a status, and returns the body.
func (s *system) must(t testing.TB, status int, r request) string {
	t.Helper()
	got, body := s.do(t, r)
	if got != status {
		t.Fatalf("%s %s %.300s: got %d %.500s, want %d", r.method, r.path, r.body, got, body, status)
	}
	return body
}

// decode reads a body.
func decode[T any](t testing.TB, body string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("%v in %.500s", err, body)
	}
	return out
}

// rpc is a call of a method by JSON-RPC.
func rpc(path, method, params string) request {
	return post(path, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
}
