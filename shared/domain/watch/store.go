package watch

import (
	"context"
	"time"
)

// Limits of watching.
const (
	// MaxSessions is how many sessions one connection may watch.
	MaxSessions = 100
	// MaxBehind is how many entries a watcher may miss and still be sent them;
	// beyond that it gets a reload.
	MaxBehind = 100
	// MaxCatchUp is how many messages a subscription is answered with; beyond that
	// the watcher gets a reload.
	MaxCatchUp = 300
	// MaxMessage is the largest message on any transport, in bytes: an API Gateway
	// websocket accepts 128 KB.
	MaxMessage = 128_000
)

// From is where a watcher begins: after Cursor, or with the item LastItemID, or,
// without either, with the newest item.
type From struct {
	Cursor     *Cursor
	LastItemID string
}

// CatchUps reads what a watcher has missed.
type CatchUps interface {
	// CatchUp returns the messages that bring a watcher up to date, strongly
	// consistent: later messages reach every connection that subscribed before the
	// call. The last message is a Status with the session's status. A position that
	// no longer exists returns a Reload, not an error. It returns fault.NotFound
	// and fault.Forbidden as for sessions.
	CatchUp(ctx context.Context, userID, sessionID string, from From) ([]Message, error)
}

// Subscriptions stores which connections watch which sessions. All methods may be
// repeated.
type Subscriptions interface {
	// Subscribe adds a connection to the session's watchers until the subscription
	// ends, and at most for the two hours of a connection's life; it replaces an
	// existing subscription of the connection. It returns fault.NotFound without a
	// session, fault.Forbidden if the session is not the subscription's owner's, and
	// fault.Busy if the connection already watches MaxSessions. The caller checks a
	// grant, before and after; a subscription by one that was withdrawn is stored, and
	// has ended.
	Subscribe(ctx context.Context, s Subscription) error
	// Unsubscribe removes a subscription of one of the user's connections; the user
	// need not have the right to watch any more. It returns fault.NotFound without
	// a session, and fault.Forbidden if it is another user's and the connection has
	// no subscription.
	Unsubscribe(ctx context.Context, userID, sessionID, connectionID string) error
	// Disconnect removes a connection.
	Disconnect(ctx context.Context, connectionID string) error
}

// LogUpdate is what happened in one log, in the order of its messages. Messages do
// not name the session; Audience does.
type LogUpdate struct {
	Log      string
	Messages []Message
	// Revoked are the withdrawn grants; their Until is not used.
	Revoked []Grant
	Time    time.Time // of the change, zero if unknown
}

// Audience finds and removes the watchers of logs.
type Audience interface {
	// Watchers returns the subscriptions to the session with this log, including
	// ended ones, by strongly consistent reads: one for some 9,000 of them.
	Watchers(ctx context.Context, log string) (sessionID string, subs []Subscription, err error)
	// Leave removes connections that are gone.
	Leave(ctx context.Context, log string, connections []string) error
	// Clear removes an ended subscription, unless its connection has subscribed
	// again since.
	Clear(ctx context.Context, log string, s Subscription) error
}

// Pusher sends to websocket connections.
type Pusher interface {
	// Push posts one message. It returns ErrGone if the connection does not exist,
	// and ErrThrottled if it should be tried again later.
	Push(ctx context.Context, connectionID string, message []byte) error
	// Close closes a connection, so that its client reconnects.
	Close(ctx context.Context, connectionID string) error
}
