package upgrade_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
	"github.com/rethread/rethread/shared/transport/follow"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/gateway"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/archives"
	"github.com/rethread/rethread/shared/transport/rest/artifacts"
	"github.com/rethread/rethread/shared/transport/rest/hooks"
	"github.com/rethread/rethread/shared/transport/rest/runs"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
	"github.com/rethread/rethread/shared/transport/rest/tasks"
	"github.com/rethread/rethread/shared/transport/ws"
)

// adminScope is the scope of admins in the story.
const adminScope = "rethread:admin"

// system is today's handlers over a table. Its clock shows the time of the version that wrote it
// until a test lets time pass.
type system struct {
	table table.Engine
	store *stores.Store

	rest   map[string]http.Handler // by resource
	a2a    http.Handler
	socket ws.Handler
	keys   *outbound.SigningKeys
	log    *slog.Logger
	said   *lockedBuffer // in the log
	agent  run.Agents
	down   bool // whether receivers at addresses with "down" or "push" refuse messages

	mu     sync.Mutex
	time   time.Time
	random *rand.ChaCha8
	frames []frame
	runs   []run.Ref           // for workers
	queue  []delivery.Delivery // to be sent
	queued int64               // the number of the last message
	wakes  []json.RawMessage   // of lanes
	posted []string            // addresses to which messages were sent
}

// newSystem returns the handlers over a table with the items; seed is that of all ids.
func newSystem(t testing.TB, items []item, now time.Time, seed byte) *system {
	t.Helper()
	s := &system{time: now, random: rand.NewChaCha8([32]byte{seed}), said: &lockedBuffer{}, agent: agent{}}
	s.log = slog.New(slog.NewTextHandler(s.said, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s.table = load(t, items)
	s.store = stores.New(s.table, stores.WithClock(s.now), stores.WithRandom(s.newUUID), stores.WithLogger(s.log),
		stores.WithQuotas(quota.Limits{Sessions: 500, Runs: 20, Bytes: 1 << 30, Streams: 4, RequestDays: 90}),
		stores.WithRetention(func(agent string) int64 { return map[string]int64{"short": 7200}[agent] }))
	c := s.config()
	s.rest = map[string]http.Handler{
		"import": archives.Import(c), "shares": sessions.Shares(c), "access": sessions.Shares(c), "export": archives.Export(c),
		"automations": hooks.Automations(c), "runs": runs.New(c), "thread": runs.New(c), "webhooks": hooks.Webhooks(c),
		"me": sessions.Erasure(c), "artifacts": artifacts.New(c), "events": sessions.Events(c), "rewind": sessions.Rewind(c),
		"fork": sessions.Fork(c), "forks": sessions.Fork(c), "tasks": tasks.New(c), "messages": tasks.New(c),
		"feedback": tasks.New(c), "sessions": sessions.Sessions(c), "state": sessions.Sessions(c),
	}
	s.keys = outbound.NewSigningKeys(s.store.Keys, s.now)
	s.a2a = a2a.New(frontend.Config{
		Sessions: s.store.Sessions, Rewinds: s.store.History, Runs: s.store.Runs, Grants: s.store.Shares, Agents: s, StartRun: s.start,
		Watch: func(context.Context, access.Caller, string, watch.Cursor) (follow.Watcher, error) {
			return nil, errors.New("nobody waits here")
		},
		Log: s.log, Now: s.now, NewID: s.newID,
	}, a2a.Config{
		Tasks: s.store.Tasks, Links: s.store.Tasks, Push: s.store.Pushes, CheckURL: func(string) error { return nil }, PublicKeys: s.keys.Public,
		Modified: now,
	})
	s.socket = ws.New(ws.Config{
		Gate: access.NewGate(s.store.Shares, s.now, s.log), Subscriptions: s.store.Subscriptions, Feed: s.store.Watching, Pusher: s,
		Log: s.log, Now: s.now,
	})
	return s
}

func (s *system) config() rest.Config {
	return rest.Config{
		A2ATasks: a2aconvert.Reader{Sessions: s.store.Sessions, Tasks: s.store.Tasks}.SessionTasks,
		Sessions: s.store.Sessions, Rewinds: s.store.History, Artifacts: s.store.Artifacts, Tasks: s.store.Tasks, Feedback: s.store.Feedback, Idempotency: s.store.Idempotency,
		Grants: s.store.Shares, Shares: s.store.Shares, Runs: s.store.Runs, Automations: s.store.Automations, Erasures: s.store.Lifecycle, Quotas: s.store.Runs,
		Exports: s.store.Archives, Imports: s.store.Archives, Webhooks: s.store.Webhooks, Deliveries: s, Agents: s,
		StartRun: s.start, NewToken: s.newID, CheckURL: func(string) error { return nil },
		NewSecret: func() (receiver.Secret, error) { return receiver.NewSecret(s.random) },
		Log:       s.log, Now: s.now, NewID: s.newID,
	}
}

func (s *system) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.time
}

func (s *system) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.time = s.time.Add(d)
}

func (s *system) newUUID() uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uuid.Must(uuid.NewRandomFromReader(s.random))
}

func (s *system) newID() string { return s.newUUID().String() }

// MayCall lets everybody call.
func (s *system) MayCall(context.Context, string) bool { return true }

// Proof needs none.
func (s *system) Proof(context.Context, string) []string { return nil }

// HasAgent knows the agents of the story.
func (s *system) HasAgent(name string) bool {
	return slices.Contains([]string{"", "default", "data_analyst", "helper", "reviewer", "failing", "short"}, name)
}

func (s *system) start(_ context.Context, ref run.Ref) error {
	s.mu.Lock() // automations of several groups start runs concurrently
	defer s.mu.Unlock()
	s.runs = append(s.runs, ref)
	return nil
}

// Put implements delivery.Queue.
func (s *system) Put(_ context.Context, d delivery.Delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, d)
	return nil
}

// Push implements watch.Pusher, as does Close.
func (s *system) Push(_ context.Context, connection string, m []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, frame{connection, slices.Clone(m)})
	return nil
}

func (s *system) Close(context.Context, string) error { return nil }

type request struct {
	user, scope, method, path, body string
	header                          map[string]string
}

// do sends a request over HTTP; path is below /api/v1 unless it begins otherwise.
func (s *system) do(t testing.TB, r request) *httptest.ResponseRecorder {
	t.Helper()
	path := r.path
	if !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/a2a/") {
		path = "/api/v1" + path
	}
	ctx := access.WithCaller(rest.WithRequestID(t.Context(), "request"),
		access.Caller{UserID: r.user, Admin: strings.Contains(r.scope, adminScope), ChangesApp: true, Token: "token"})
	h := s.a2a
	if strings.HasPrefix(path, "/a2a/") {
		ctx = gateway.WithBase(ctx, "https://api.example")
	} else {
		h = s.rest[resource(path)]
	}
	if h == nil {
		t.Fatalf("%s has no handler", path)
	}
	in := httptest.NewRequestWithContext(ctx, r.method, path, strings.NewReader(r.body))
	if r.body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		in.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, in)
	return w
}

// resource is the resource of a path: the part after a session's id, or its first
// name.
func resource(path string) string {
	path, _, _ = strings.Cut(path, "?")
	names := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, "/api"), "/v1"), "/")[1:]
	switch {
	case names[0] != "sessions" || len(names) == 1:
		return names[0]
	case names[1] == "import":
		return "import"
	case len(names) == 2:
		return "sessions"
	}
	return names[2]
}

// say sends a message over a websocket, and returns the answers.
func (s *system) say(t testing.TB, user, scope, connection, body string) []frame {
	t.Helper()
	s.frames = nil
	var event events.APIGatewayWebsocketProxyRequest
	event.Body = body
	event.RequestContext.EventType, event.RequestContext.ConnectionID = "MESSAGE", connection
	event.RequestContext.Authorizer = map[string]any{"sub": user, "admin": strconv.FormatBool(strings.Contains(scope, adminScope)), "exp": fmt.Sprint(s.now().Add(time.Hour).Unix())}
	if a, err := s.socket(t.Context(), event); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", body, a.StatusCode, err)
	}
	return s.frames
}

// lockedBuffer is a buffer for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}
