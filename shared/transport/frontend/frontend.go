// Package frontend is what the servers of protocols have in common: the caller and its
// access, sessions and runs that requests begin, a run that a list of messages begins, the
// stream of a run and its end, and the answers to requests that are refused.
// A stream reads its run from the table, so any instance can send it again, and the run
// outlives the request. Formats of requests and streams belong to each protocol.
package frontend

import (
	"context"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/follow"
)

// Runs are the operations on runs that the server uses.
type Runs interface {
	follow.Runs
	run.Ender
	Start(ctx context.Context, s run.Start) (run.Run, error)
	CancelAs(ctx context.Context, ref run.Ref, on run.OnFailed) (run.Run, error)
}

// Unseen notes the run without whose output a reader got the messages of a session.
type Unseen interface {
	NoteUnseen(ctx context.Context, sessionID, runID string) error
	// Unseen returns the run that was noted; "" without one.
	Unseen(ctx context.Context, sessionID string) (string, error)
	ForgetUnseen(ctx context.Context, sessionID string) error
}

// Agents reports which agents are configured.
type Agents interface {
	HasAgent(name string) bool
	// MayCall reports whether the caller of a request may call an agent.
	MayCall(ctx context.Context, name string) bool
}

// Config configures a server.
type Config struct {
	Sessions session.Store
	Rewinds  session.Rewinder
	Runs     Runs
	Agents   Agents
	// Grants gives users other than the owner access to sessions.
	Grants access.Grants
	// StartRun hands a started run to a worker and returns without waiting for it.
	StartRun func(context.Context, run.Ref) error
	// Watch opens a connection that delivers what happens in a session.
	Watch follow.WatchFunc
	// Streams counts the open streams of each caller; nil does not limit them.
	Streams quota.Streams
	// Unseen notes the runs without whose output messages were sent.
	Unseen Unseen

	Log   *slog.Logger
	Now   func() time.Time
	NewID func() string // of rewinds, and of runs that never were

	// AllowedOrigin is the value of Access-Control-Allow-Origin; "" omits it.
	AllowedOrigin string
	// CheckEvery is the interval at which a followed run is read without any
	// message, to find one whose worker died: 20 s.
	CheckEvery time.Duration
	// StreamTurn is how long the lease of a dead stream counts, and the interval at
	// which a live stream renews its lease: 90 s.
	StreamTurn time.Duration
	// KeepAlive is the interval of comments on an idle stream: 15 s.
	KeepAlive time.Duration
}
