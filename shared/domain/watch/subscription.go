package watch

import (
	"time"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Subscription is a connection's subscription to a session. Its connection gets no
// messages about the session after the subscription has ended.
type Subscription struct {
	SessionID  string
	Owner      string // the session's owner
	Connection string
	// Expires is when the token that opened the connection expires, in seconds
	// since 1970; 0 if unknown.
	Expires int64
	// Grant is the grant of a guest; zero for the owner and for an admin.
	Grant Grant
	// Revoked is set from when the grant was withdrawn until the connection has got
	// its notice.
	Revoked bool
}

// Grant is what lets a guest watch: a user of a share.
type Grant struct {
	Share  string
	UserID string
	Until  int64 // epoch milliseconds, 0 for unlimited
}

// Guest reports whether a share gave the subscription.
func (s Subscription) Guest() bool { return s.Grant.Share != "" }

// EndReason returns why the subscription has ended; "" if it has not.
func (s Subscription) EndReason(now time.Time) Reason {
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

// Reason is why a subscription ended.
type Reason string

// The reasons.
const (
	// ReasonRevoked means that the share, or the user's part in it, was withdrawn.
	ReasonRevoked Reason = "revoked"
	// ReasonExpired means that the share has expired.
	ReasonExpired Reason = "expired"
	// ReasonToken means that the token that opened the connection has expired.
	ReasonToken Reason = "token_expired"
)

// Status returns the HTTP status that another request to watch would get.
func (r Reason) Status() int {
	if r == ReasonToken {
		return 401
	}
	return 403
}

// Unsubscribed is the type of an UnsubscribedNotice on every transport; the answer
// to an unsubscribe request has the same type, with a request id instead of a
// reason.
const Unsubscribed Type = "unsubscribed"

// UnsubscribedNotice is the last message that a connection gets about a session
// when its subscription has ended. A user with another right to watch may subscribe
// again.
type UnsubscribedNotice struct {
	Type      Type   `json:"type"`
	SessionID string `json:"session_id"`
	Reason    Reason `json:"reason"`
	Status    int    `json:"status"`
}

// NewUnsubscribedNotice returns the notice for a session.
func NewUnsubscribedNotice(sessionID string, r Reason) UnsubscribedNotice {
	return UnsubscribedNotice{Type: Unsubscribed, SessionID: sessionID, Reason: r, Status: r.Status()}
}

// Frame encodes the notice.
func (f UnsubscribedNotice) Frame() []byte {
	frame, err := jsonx.Marshal(f)
	if err != nil { // strings and a number always encode
		panic(err)
	}
	return frame
}
