package rest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/archives"
	"github.com/rethread/rethread/shared/transport/rest/artifacts"
	"github.com/rethread/rethread/shared/transport/rest/hooks"
	"github.com/rethread/rethread/shared/transport/rest/runs"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
	"github.com/rethread/rethread/shared/transport/rest/tasks"
)

const alice, bob = "alice", "bob"

// system is the handlers over a table of the test's own.
type system struct {
	config                  rest.Config
	sessions, events, tasks http.Handler
	rewind, fork, artifacts http.Handler
	webhooks, automations   http.Handler
	runs, me, export        http.Handler
	imports, shares         http.Handler
	agents                  agents
	dispatched              []run.Ref // runs handed to workers
	queued                  queue     // of deliveries
	log                     *bytes.Buffer
}

// newSystem creates the handlers over a table in memory, whatever engine the store is
// tested on; change may wrap their stores.
func newSystem(t testing.TB, change ...func(*rest.Config)) *system {
	t.Helper()
	s := &system{log: &bytes.Buffer{}, agents: agents{"default", "data_analyst"}}
	log := slog.New(slog.NewTextHandler(s.log, nil))
	store := stores.New(memory.New(store.Schema()), stores.WithCodec(storetest.Codec()), stores.WithLogger(log))
	s.config = rest.Config{
		Agents: &s.agents, StartRun: s.dispatch, NewToken: rand.Text,
		Deliveries: &s.queued, CheckURL: outbound.New(outbound.Options{}).Check,
		Log: log, Now: time.Now, NewID: uuid.NewString,
	}
	useStore(&s.config, store)
	s.config.NewSecret = func() (receiver.Secret, error) { return receiver.NewSecret(rand.Reader) }
	for _, c := range change {
		c(&s.config)
	}
	s.sessions, s.events, s.tasks = sessions.Sessions(s.config), sessions.Events(s.config), tasks.New(s.config)
	s.rewind, s.fork = sessions.Rewind(s.config), sessions.Fork(s.config)
	s.artifacts, s.webhooks = artifacts.New(s.config), hooks.Webhooks(s.config)
	s.runs, s.me = runs.New(s.config), sessions.Erasure(s.config)
	s.automations, s.export = hooks.Automations(s.config), archives.Export(s.config)
	s.imports, s.shares = archives.Import(s.config), sessions.Shares(s.config)
	return s
}

// useStore has the handlers use a store.
func useStore(c *rest.Config, s *stores.Store) {
	c.Sessions, c.Rewinds, c.Runs, c.Exports, c.Imports = s.Sessions, s.History, s.Runs, s.Archives, s.Archives
	c.Artifacts, c.Tasks, c.Feedback, c.Quotas, c.Erasures = s.Artifacts, s.Tasks, s.Feedback, s.Runs, s.Lifecycle
	c.Grants, c.Shares, c.Idempotency = s.Shares, s.Shares, s.Idempotency
	c.Automations, c.Webhooks = s.Automations, s.Webhooks
	c.A2ATasks = a2aconvert.Reader{Sessions: s.Sessions, Tasks: s.Tasks}.SessionTasks
}

// dispatch stands in for handing a run to a worker.
func (s *system) dispatch(_ context.Context, ref run.Ref) error {
	s.dispatched = append(s.dispatched, ref)
	return nil
}

// agents are the names of the configured agents.
type agents []string

func (a *agents) HasAgent(name string) bool { return slices.Contains(*a, name) }

// MayCall lets everybody call.
func (*agents) MayCall(context.Context, string) bool { return true }

// Proof names the caller.
func (*agents) Proof(ctx context.Context, _ string) []string {
	return []string{"sub=" + access.CallerOf(ctx).UserID}
}

// ServeHTTP chooses the handler like the gateway's routes.
func (s *system) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case strings.Contains(path+"/", "/sessions/import/"):
		s.imports.ServeHTTP(w, r)
	case strings.Contains(path, "/shares"), strings.HasSuffix(path, "/access"):
		s.shares.ServeHTTP(w, r)
	case strings.HasSuffix(path, "/export"):
		s.export.ServeHTTP(w, r)
	case strings.HasPrefix(path, "/api/v1/automations"):
		s.automations.ServeHTTP(w, r)
	case strings.Contains(path, "/runs"), strings.HasSuffix(path, "/thread"):
		s.runs.ServeHTTP(w, r)
	case strings.HasPrefix(path, "/api/v1/webhooks"):
		s.webhooks.ServeHTTP(w, r)
	case strings.Contains(path, "/me/"):
		s.me.ServeHTTP(w, r)
	case strings.Contains(path, "/artifacts"):
		s.artifacts.ServeHTTP(w, r)
	case strings.HasSuffix(path, "/events"):
		s.events.ServeHTTP(w, r)
	case strings.HasSuffix(path, "/rewind"):
		s.rewind.ServeHTTP(w, r)
	case strings.HasSuffix(path, "/fork"), strings.HasSuffix(path, "/forks"):
		s.fork.ServeHTTP(w, r)
	case strings.Contains(path, "/tasks"), strings.HasSuffix(path, "/messages"), strings.HasSuffix(path, "/feedback"):
		s.tasks.ServeHTTP(w, r)
	default:
		s.sessions.ServeHTTP(w, r)
	}
}

// request is a test's request; path is below /api/v1 unless it begins with
// another base.
type request struct {
	user, method, path string
	body               string
	header             map[string]string
}

func get(user, path string) request { return request{user: user, method: http.MethodGet, path: path} }

func post(user, path, body string) request {
	return request{user: user, method: http.MethodPost, path: path, body: body}
}

func patch(user, path, body string) request {
	return request{user: user, method: http.MethodPatch, path: path, body: body}
}

func del(user, path string) request {
	return request{user: user, method: http.MethodDelete, path: path}
}

func (r request) with(name, value string) request {
	header := map[string]string{name: value}
	for n, v := range r.header {
		header[n] = v
	}
	r.header = header
	return r
}

type response struct {
	status int
	header http.Header
	body   []byte
}

func (s *system) do(t testing.TB, r request) response {
	t.Helper()
	path := r.path
	if !strings.HasPrefix(path, "/api/") {
		path = "/api/v1" + path
	}
	req := httptest.NewRequestWithContext(t.Context(), r.method, path, strings.NewReader(r.body))
	if r.user != "" {
		req = req.WithContext(access.WithCaller(req.Context(), access.Caller{UserID: r.user, ChangesApp: true}))
	}
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return response{w.Code, w.Header(), w.Body.Bytes()}
}

// must sends a request and requires a status.
func (s *system) must(t testing.TB, status int, r request) response {
	t.Helper()
	got := s.do(t, r)
	if got.status != status {
		t.Fatalf("%s %s: got %d %.300s, want %d", r.method, r.path, got.status, got.body, status)
	}
	return got
}

// mustRefuse sends a request, requires a problem, and returns its members.
func (s *system) mustRefuse(t *testing.T, status int, pointer string, r request) map[string]any {
	t.Helper()
	got := s.must(t, status, r)
	if ct := got.header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("Content-Type of a problem: got %q", ct)
	}
	problem := decode[map[string]any](t, got)
	for _, name := range []string{"type", "code", "title", "status", "detail", "request_id"} {
		if problem[name] == nil || problem[name] == "" {
			t.Errorf("problem without %s: %s", name, got.body)
		}
	}
	if pointer == "" {
		return problem
	}
	if at := fmt.Sprint(problem["errors"]); !strings.Contains(at, "pointer:"+pointer+"]") {
		t.Errorf("the problem does not point at %q: %s", pointer, got.body)
	}
	return problem
}

func decode[T any](t testing.TB, r response) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Fatalf("decode %.300s: %v", r.body, err)
	}
	return v
}

type (
	sessionView struct {
		ID       string          `json:"id"`
		AppName  string          `json:"app_name"`
		Agent    string          `json:"agent"`
		Name     string          `json:"name"`
		Status   string          `json:"status"`
		Metadata json.RawMessage `json:"metadata"`
		HeadSeq  int64           `json:"head_seq"`
	}
	eventView struct {
		ID           string `json:"id"`
		Seq          int64  `json:"seq"`
		SessionID    string `json:"session_id"`
		InvocationID string `json:"invocation_id"`
		Author       string `json:"author"`
	}
	one[T any] struct {
		Data T `json:"data"`
	}
	page[T any] struct {
		Data []T `json:"data"`
		Meta struct {
			NextCursor *string `json:"next_cursor"`
		} `json:"meta"`
	}
)

func (s *system) mustCreate(t testing.TB, user, body string) sessionView {
	t.Helper()
	return decode[one[sessionView]](t, s.must(t, http.StatusCreated, post(user, "/sessions", body))).Data
}

func (s *system) mustAppend(t testing.TB, id string, events ...string) []eventView {
	t.Helper()
	got := s.must(t, http.StatusCreated, post(alice, "/sessions/"+id+"/events", batch(events...)))
	return decode[one[[]eventView]](t, got).Data
}

func batch(events ...string) string { return `{"events":[` + strings.Join(events, ",") + `]}` }

func said(invocation, text string) string {
	return fmt.Sprintf(`{"invocation_id":%q,"author":"user","content":{"role":"user","parts":[{"text":%q}]}}`, invocation, text)
}

// headSeq returns the number of events in the log of one of alice's sessions.
func (s *system) headSeq(t *testing.T, id string) int64 {
	t.Helper()
	return decode[one[sessionView]](t, s.must(t, http.StatusOK, get(alice, "/sessions/"+id))).Data.HeadSeq
}

// follow reads a list page by page through its Link headers.
func follow(t *testing.T, s *system, first request, visit func(response)) (pages int) {
	t.Helper()
	for r := first; ; {
		got := s.must(t, http.StatusOK, r)
		visit(got)
		pages++
		link := got.header.Get("Link")
		if link == "" {
			return pages
		}
		target, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok || pages > 1000 {
			t.Fatalf("page %d: Link %q", pages, link)
		}
		r.path = target
	}
}

func zip(t *testing.T, s string) string {
	t.Helper()
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := io.WriteString(zw, s); err != nil {
		t.Fatalf("compress: %v", err)
	}
	if err := zw.Close(); err != nil {
		t.Fatalf("compress: %v", err)
	}
	return buf.String()
}

func unzip(t *testing.T, r response) response {
	t.Helper()
	if got := r.header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding: got %q", got)
	}
	zr, err := gzip.NewReader(bytes.NewReader(r.body))
	if err != nil {
		t.Fatalf("decompress: %v", err)
	}
	if r.body, err = io.ReadAll(zr); err != nil {
		t.Fatalf("decompress: %v", err)
	}
	return r
}
