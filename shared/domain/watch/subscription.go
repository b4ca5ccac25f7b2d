package watch

import (
	"time"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Subscription is a connection's place among the watchers of a session. Nobody who
// holds one hears of the session for longer than it is good.
type Subscription struct {
	SessionID  string
	Owner      string // whose session it is
	Connection string
	// Expires is when the token ends that opened the connection, in seconds
	// since 1970; 0 where that is not known, of a subscription that an earlier version took.
	Expires int64
	// Grant is what lets a guest watch; zero for the owner and for an admin.
	Grant Grant
	// Revoked is set once the grant was withdrawn, until the connection knows.
	Revoked bool
}

// Grant is what lets a guest watch: a user whom a share let in.
type Grant struct {
	Share  string
	UserID string
	Until  int64 // epoch milliseconds, 0 is never
}

// Guest reports whether the subscription is one that a share gave.
func (s Subscription) Guest() bool { return s.Grant.Share != "" }

// Over is why the subscription is not good any more; "" while it is.
func (s Subscription) Over(now time.Time) Reason {
	switch {
	case s.Revoked:
		return ReasonRevoked
	case s.Expires != 0 && s.Expires <= now.Unix():
		return ReasonToken
	case s.Grant.Until != 0 && s.Grant.Until <= now.UnixMilli():
		return ReasonExpired
	}
	return ""
}

// Reason is why a connection watches a session no longer.
type Reason string

// The reasons.
const (
	// ReasonRevoked is that the share, or the caller's part in it, was withdrawn.
	ReasonRevoked Reason = "revoked"
	// ReasonExpired is that the share's time is up.
	ReasonExpired Reason = "expired"
	// ReasonToken is that the token has ended that opened the connection.
	ReasonToken Reason = "token_expired"
)

// Status is what asking again would be answered with, as HTTP has it.
func (r Reason) Status() int {
	if r == ReasonToken {
		return 401
	}
	return 403
}

// Unsubscribed is the type of a UnsubscribedNotice on every transport; it is that of the
// answer to who unsubscribes, too, which has a request id instead of a reason.
const Unsubscribed Type = "unsubscribed"

// UnsubscribedNotice is the last thing that a connection is told of a session because its
// subscription is not good any more. Whoever has another right to watch may subscribe
// again.
type UnsubscribedNotice struct {
	Type      Type   `json:"type"`
	SessionID string `json:"session_id"`
	Reason    Reason `json:"reason"`
	Status    int    `json:"status"`
}

// NewUnsubscribedNotice tells of the end of watching a session.
func NewUnsubscribedNotice(sessionID string, r Reason) UnsubscribedNotice {
	return UnsubscribedNotice{Type: Unsubscribed, SessionID: sessionID, Reason: r, Status: r.Status()}
}

// Frame is the notice as connections get it.
func (f UnsubscribedNotice) Frame() []byte {
	frame, err := jsonx.Marshal(f)
	if err != nil { // these are strings and a number
		panic(err)
	}
	return frame
}
