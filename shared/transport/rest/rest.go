// Package rest is what the handlers of the HTTP API have in common: how a request is
// read, permitted, repeated and answered. Its folders hold the resources; problem.go is
// the only place where errors become status codes. The tests of all stand here.
package rest

import (
	"context"
	"log/slog"
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
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// Versioned is the base of all paths, and Bare another one of those of sessions and
// events.
const (
	Versioned = "/api/v1"
	Bare      = "/api"
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

	Webhooks receiver.Webhooks
	// Deliveries queues webhook tests and replays, CheckURL returns an error
	// for an address that must not be called, and NewSecret creates a signing
	// secret.
	Deliveries delivery.Queue
	CheckURL   func(string) error
	NewSecret  func() (receiver.Secret, error)

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

// API holds the handlers of one resource.
type API struct {
	Config
	Mux  *chi.Mux
	Gate *access.Gate
}

// NewAPI returns an API without any routes.
func NewAPI(c Config) *API {
	a := &API{Config: c, Mux: chi.NewMux(), Gate: access.NewGate(c.Grants, c.Now, c.Log)}
	a.Mux.NotFound(a.serve(unknownPath))
	a.Mux.MethodNotAllowed(a.serve(a.wrongMethod))
	return a
}

// Handle adds a route.
func (a *API) Handle(method, pattern string, e Endpoint) {
	a.Mux.Method(method, pattern, a.serve(e))
}
