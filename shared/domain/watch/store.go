package watch

import (
	"context"
	"time"
)

// Limits of watching.
const (
	// MaxSessions is how many sessions one connection may watch.
	MaxSessions = 100
	// MaxBehind is how many entries a watcher may lack and still be sent them;
	// who is further behind is told to reload.
	MaxBehind = 100
	// MaxCatchUp is how many messages a subscription is answered with; who lacks
	// more is told to reload, too.
	MaxCatchUp = 300
	// MaxMessage is the largest message on any transport, in bytes: an API
	// Gateway websocket takes 128 KB.
	MaxMessage = 128_000
)

// From is where a watcher wants to begin: after Cursor, or with the item
// LastItemID, or, without either, with the newest item.
type From struct {
	Cursor     *Cursor
	LastItemID string
}

// CatchUps reads what a watcher lacks.
type CatchUps interface {
	// CatchUp returns the messages that bring a watcher up to date, strongly
	// consistent: whatever comes after them reaches who subscribed before. The
	// last is a Status with the session's status. A position that is gone gives
	// a Reload, not an error. fault.NotFound and fault.Forbidden as for sessions.
	CatchUp(ctx context.Context, userID, sessionID string, from From) ([]Message, error)
}

// Subscriptions says which connections watch which sessions. All methods may be
// repeated.
type Subscriptions interface {
	// Subscribe subscriptions a connection among the session's watchers, for as long as
	// the subscription is good and at most for the two hours that a connection lives; one
	// that it has already is replaced. fault.NotFound without a session,
	// fault.Forbidden where it is not its owner's or the subscription's grant is not, or
	// not any more; fault.Busy where the connection watches MaxSessions.
	Subscribe(ctx context.Context, s Subscription) error
	// Unsubscribe takes a subscription away of a connection of the user's, who need not
	// have the right to watch any more. fault.NotFound without a session, and
	// fault.Forbidden where it is somebody else's and the connection has no subscription.
	Unsubscribe(ctx context.Context, userID, sessionID, connectionID string) error
	// Disconnect forgets a connection.
	Disconnect(ctx context.Context, connectionID string) error
}

// LogUpdate is what happened in one log, in the order of its messages. The messages
// name no session: the audience does.
type LogUpdate struct {
	Log      string
	Messages []Message
	// Revoked are grants that were withdrawn; their Until says nothing.
	Revoked []Grant
	Time    time.Time // of the change, zero where it is not known
}

// Audience finds whom to tell.
type Audience interface {
	// Watchers are the subscriptions among those who watch the session with this log,
	// whether they are still good or not; it is one read, strongly consistent.
	Watchers(ctx context.Context, log string) (sessionID string, subs []Subscription, err error)
	// Leave removes connections that are gone.
	Leave(ctx context.Context, log string, connections []string) error
	// Clear removes a subscription that is not good any more, unless its connection has
	// taken another one since.
	Clear(ctx context.Context, log string, s Subscription) error
}

// Pusher sends to websocket connections.
type Pusher interface {
	// Push posts one message. ErrGone where there is no such connection;
	// ErrThrottled where it should be tried again later.
	Push(ctx context.Context, connectionID string, message []byte) error
	// Close ends a connection, so that its client connects anew.
	Close(ctx context.Context, connectionID string) error
}
