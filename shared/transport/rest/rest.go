// Package rest is the HTTP transport: it reads requests, calls the domain and
// writes answers. One file holds one resource; problem.go is the only place
// where errors become status codes.
package rest

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/domain/idempotency"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/domain/webhook"
)

// Base paths: the versioned one, and the bare one, which also serves the paths
// of sessions and events.
const (
	versioned = "/api/v1"
	bare      = "/api"
)

// Config configures the handlers. Each resource needs its own store, and those
// that create objects also need Idempotency.
type Config struct {
	Sessions    session.Store
	Rewinds     session.Rewinder
	Artifacts   artifact.Store
	Tasks       task.Store
	Feedback    task.FeedbackStore
	Idempotency idempotency.Store
	Exports     archive.Exporter
	Imports     archive.Importer
	Erasures    erasure.Store
	Automations automation.Store
	Quotas      quota.Store
	// A2ATasks returns all tasks of a session in A2A form, as a2a/a2aconvert has it; only the
	// routes of tasks need it.
	A2ATasks func(context.Context, session.Session) ([]task.A2A, error)

	// Grants gives users other than the owner access to sessions; every handler
	// of a session's resources needs it.
	Grants access.Grants
	Shares access.Shares
	// NewToken returns a secret of at least 128 random bits.
	NewToken func() string

	Runs   run.Store
	Agents Agents
	// StartRun hands a started run to a worker and returns without waiting for
	// it. It may be called twice for the same run.
	StartRun func(context.Context, run.Ref) error

	Webhooks webhook.Store
	// Deliveries queues webhook tests and replays, CheckURL returns an error
	// for an address that must not be called, and NewSecret creates a signing
	// secret.
	Deliveries delivery.Queue
	CheckURL   func(string) error
	NewSecret  func() (webhook.Secret, error)

	Log   *slog.Logger
	Now   func() time.Time
	NewID func() string
}

// Agents reports which agents are configured; the name "" stands for the agent
// of sessions without one, if any.
type Agents interface {
	HasAgent(name string) bool
	// MayCall reports whether the caller of a request may call an agent.
	MayCall(ctx context.Context, name string) bool
	// Proof returns by what they may call one that not everybody may call.
	Proof(ctx context.Context, name string) []string
}

// Sessions handles sessions and their state.
func Sessions(c Config) http.Handler {
	a := newAPI(c)
	for _, base := range []string{versioned, bare} {
		a.handle(http.MethodPost, base+"/sessions", withBody(maxBody, a.once(repeatable{may: anyCaller}, a.createSession)))
		a.handle(http.MethodGet, base+"/sessions", a.listSessions)
		a.handle(http.MethodGet, base+"/sessions/{session_id}", a.on(access.ReadSession, a.getSession))
		a.handle(http.MethodPatch, base+"/sessions/{session_id}", withBody(maxBody, a.on(access.Rename, a.updateSession)))
		a.handle(http.MethodDelete, base+"/sessions/{session_id}", a.on(access.Delete, a.deleteSession))
		a.handle(http.MethodGet, base+"/sessions/{session_id}/state", a.on(access.ReadSession, a.getState))
	}
	return a.mux
}

// Events handles the events of sessions.
func Events(c Config) http.Handler {
	a := newAPI(c)
	for _, base := range []string{versioned, bare} {
		a.handle(http.MethodPost, base+"/sessions/{session_id}/events", withBody(maxBody, a.once(repeatable{session: access.AppendEvents, rebuilds: true}, a.appendEvents)))
		a.handle(http.MethodGet, base+"/sessions/{session_id}/events", a.on(access.ReadSession, a.listEvents))
	}
	return a.mux
}

// Rewind rewinds sessions.
func Rewind(c Config) http.Handler {
	a := newAPI(c)
	for _, base := range []string{versioned, bare} {
		a.handle(http.MethodPost, base+"/sessions/{session_id}/rewind", withBody(maxBody, a.once(repeatable{session: access.Rewind}, a.rewindSession)))
	}
	return a.mux
}

// Fork forks sessions and returns the tree of forks.
func Fork(c Config) http.Handler {
	a := newAPI(c)
	for _, base := range []string{versioned, bare} {
		a.handle(http.MethodPost, base+"/sessions/{session_id}/fork", withOptionalBody(maxBody, a.once(repeatable{may: a.forkAuthority, session: access.Fork}, a.forkSession)))
		a.handle(http.MethodGet, base+"/sessions/{session_id}/forks", a.on(access.ReadForks, a.getForks))
	}
	return a.mux
}

// Tasks handles tasks, the messages derived from them, and feedback.
func Tasks(c Config) http.Handler {
	a := newAPI(c)
	const tasks = versioned + "/sessions/{session_id}/tasks"
	a.handle(http.MethodPost, tasks, withBody(maxTaskBody, a.once(repeatable{session: access.SaveTask}, a.saveTask)))
	a.handle(http.MethodGet, tasks, a.on(access.ReadTasks, a.listTasks))
	a.handle(http.MethodGet, tasks+"/{task_id}", a.on(access.ReadTasks, a.getTask))
	a.handle(http.MethodDelete, tasks+"/{task_id}", a.on(access.DeleteTask, a.deleteTask))
	a.handle(http.MethodGet, versioned+"/sessions/{session_id}/messages", a.on(access.ReadTasks, a.listMessages))
	a.handle(http.MethodPost, versioned+"/feedback", withBody(maxBody, a.once(repeatable{may: a.feedbackAuthority}, a.giveFeedback)))
	a.handle(http.MethodGet, versioned+"/feedback", a.listFeedback)
	a.handle(http.MethodGet, bare+"/sessions/{session_id}/tasks", a.on(access.ReadTasks, a.listA2ATasks))
	a.handle(http.MethodPost, bare+"/tasks", withBody(maxTaskBody, a.saveA2ATask))
	a.handle(http.MethodGet, bare+"/tasks/{task_id}", a.getA2ATask)
	a.handle(http.MethodDelete, bare+"/tasks/{task_id}", a.deleteA2ATask)
	return a.mux
}

// api holds the handlers of one resource.
type api struct {
	Config
	mux  *chi.Mux
	gate *access.Gate
}

func newAPI(c Config) *api {
	a := &api{Config: c, mux: chi.NewMux(), gate: access.NewGate(c.Grants, c.Now, c.Log)}
	a.mux.NotFound(a.serve(unknownPath))
	a.mux.MethodNotAllowed(a.serve(a.wrongMethod))
	return a
}

func (a *api) handle(method, pattern string, e endpoint) {
	a.mux.Method(method, pattern, a.serve(e))
}
