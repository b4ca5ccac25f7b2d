// Package a2a is the transport of the Agent2Agent protocol: an A2A server for
// each configured agent, over the same sessions and runs as everything else. A
// context is a session, a task is a run, and what a stream tells comes from the
// table, so that any instance can take it up. a2a-go reads and writes the wire.
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
)

// Runs is what the server needs of runs.
type Runs interface {
	Start(ctx context.Context, s run.Start) (run.Run, error)
	Run(ctx context.Context, ref run.Ref) (run.Run, error)
	Cancel(ctx context.Context, ref run.Ref) (run.Run, error)
	End(ctx context.Context, ref run.Ref, status run.Status, problem *run.Problem) (run.Run, error)
	Thread(ctx context.Context, userID, sessionID string, q run.ThreadQuery) (run.Thread, error)
}

// Agents knows the agents that the deployer configured.
type Agents interface {
	HasAgent(name string) bool
}

// Config is what the server stands on.
type Config struct {
	Sessions session.Store
	Rewinds  session.Rewinder
	Runs     Runs
	Tasks    task.Store
	Links    task.Links
	Agents   Agents
	// Grants lets others in than the owners of sessions.
	Grants access.Grants
	// AdminScope is the word in a token's scope that lets its bearer read every
	// session; "" lets nobody.
	AdminScope string
	// StartRun hands a run that has been started to a worker and does not wait.
	StartRun func(context.Context, run.Ref) error
	// News opens a connection that tells what happens in a session.
	News NewsFunc
	// Streams counts the open streams of each caller; nil counts none.
	Streams quota.Streams
	// Push keeps who is told of tasks; nil offers no push notifications.
	Push push.Store
	// CheckURL says why an address cannot be notified.
	CheckURL func(string) error
	// PublicKeys are those that verify notifications.
	PublicKeys func(context.Context) (jose.JSONWebKeySet, error)

	Log   *slog.Logger
	Now   func() time.Time
	NewID func() string // of tasks and contexts

	// Modified is when the agent cards last changed: when this was deployed.
	Modified time.Time
	// AllowedOrigin is for Access-Control-Allow-Origin; "" sends none.
	AllowedOrigin string
	// CheckEvery is how often a run that is followed is looked at although
	// nothing is heard of it, so that one whose worker died is found: 20 s.
	CheckEvery time.Duration
	// StreamTurn is how long the place of a stream that died is taken; the lease of
	// one that lives is renewed as often: 90 s.
	StreamTurn time.Duration
}

// caller is who asks.
type caller struct {
	user  string
	token string // to subscribe with
}

type callerKey struct{}

// WithCaller puts into a context who asks, as the gateway verified it, and the
// token that says so.
func WithCaller(ctx context.Context, user, token string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller{user: user, token: token})
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

type scopeKey struct{}

// WithScope puts into a context what the caller's token allows: words separated
// by blanks (RFC 6749, section 3.3).
func WithScope(ctx context.Context, scope string) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope)
}

// guest is the caller as the gate knows them.
func (h *handler) guest(ctx context.Context) access.Caller {
	scope, _ := ctx.Value(scopeKey{}).(string)
	return access.Caller{UserID: callerOf(ctx).user, Admin: access.Admin(scope, h.AdminScope)}
}

type baseKey struct{}

// WithBase puts into a context the public address of the API, without a slash
// at its end: agent cards name it.
func WithBase(ctx context.Context, url string) context.Context {
	return context.WithValue(ctx, baseKey{}, url)
}

// Base is the address that WithBase put into a context; "" without one.
func Base(ctx context.Context) string {
	base, _ := ctx.Value(baseKey{}).(string)
	return base
}

// New is the server for all agents.
func New(c Config) http.Handler {
	if c.CheckEvery == 0 {
		c.CheckEvery = 20 * time.Second
	}
	if c.StreamTurn == 0 {
		c.StreamTurn = 90 * time.Second
	}
	return newServer(c)
}
