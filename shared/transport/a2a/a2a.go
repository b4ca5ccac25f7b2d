// Package a2a is the transport of the Agent2Agent protocol: an A2A server for
// each configured agent, over the same sessions and runs as the other
// transports. A context is a session and a task is a run. A stream reads its
// events from the table, so any instance can continue it. a2a-go reads and
// writes the wire format.
package a2a

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/push"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/follow"
)

// Runs are the operations on runs that the server uses.
type Runs interface {
	Start(ctx context.Context, s run.Start) (run.Run, error)
	Run(ctx context.Context, ref run.Ref) (run.Run, error)
	Cancel(ctx context.Context, ref run.Ref) (run.Run, error)
	End(ctx context.Context, ref run.Ref, status run.Status, problem *run.Problem) (run.Run, error)
	Thread(ctx context.Context, userID, sessionID string, q run.ThreadQuery) (run.Thread, error)
}

// Agents reports which agents are configured.
type Agents interface {
	HasAgent(name string) bool
	// MayCall reports whether the caller of a request may call an agent.
	MayCall(ctx context.Context, name string) bool
}

// Config configures the server.
type Config struct {
	Sessions session.Store
	Rewinds  session.Rewinder
	Runs     Runs
	Tasks    task.Store
	Links    task.Links
	Agents   Agents
	// Grants gives users other than the owner access to sessions.
	Grants access.Grants
	// StartRun hands a started run to a worker and returns without waiting for
	// it.
	StartRun func(context.Context, run.Ref) error
	// Watch opens a connection that delivers what happens in a session.
	Watch follow.WatchFunc
	// Streams counts the open streams of each caller; nil does not limit them.
	Streams quota.Streams
	// Push stores push configurations; nil offers no push notifications.
	Push push.Store
	// CheckURL returns an error for an address that cannot be notified.
	CheckURL func(string) error
	// PublicKeys returns the keys that verify notifications.
	PublicKeys func(context.Context) (jose.JSONWebKeySet, error)

	Log   *slog.Logger
	Now   func() time.Time
	NewID func() string // of tasks and contexts

	// Modified is when the agent cards last changed: when this was deployed.
	Modified time.Time
	// AllowedOrigin is the value of Access-Control-Allow-Origin; "" omits it.
	AllowedOrigin string
	// CheckEvery is the interval at which a followed run is read without any
	// message, to find one whose worker died: 20 s.
	CheckEvery time.Duration
	// StreamTurn is how long the lease of a dead stream counts, and the
	// interval at which a live stream renews its lease: 90 s.
	StreamTurn time.Duration
}

type baseKey struct{}

// WithBase adds the public address of the API, without a trailing slash, to a
// context: agent cards contain it.
func WithBase(ctx context.Context, url string) context.Context {
	return context.WithValue(ctx, baseKey{}, url)
}

// Base returns the address added by WithBase; "" without one.
func Base(ctx context.Context) string {
	base, _ := ctx.Value(baseKey{}).(string)
	return base
}

// New returns the server for all agents.
func New(c Config) http.Handler {
	if c.CheckEvery == 0 {
		c.CheckEvery = 20 * time.Second
	}
	if c.StreamTurn == 0 {
		c.StreamTurn = 90 * time.Second
	}
	return newServer(c)
}
