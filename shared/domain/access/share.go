package access

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

// Limits of shares.
const (
	MaxShares = 100  // of a session at a time
	MaxGuests = 1000 // users who have accepted one link
	// MaxSharingOwners is in how many users' sessions a task is looked for that is named
	// by its id alone.
	MaxSharingOwners = 100
	MaxUserID        = 256 // characters
	// MaxUserIDBytes leaves room in a key for what stands beside a user's id.
	MaxUserIDBytes = 768
	MaxToken       = 128 // characters
	// MaxLife is how long a share that ends may last; one that does not end is
	// for ever.
	MaxLife = 10 * 365 * 24 * time.Hour
)

// Kind says whom a share lets in.
type Kind string

// The kinds of shares.
const (
	ByName Kind = "user" // one user
	ByLink Kind = "link" // every user who accepts its token
)

// SharedWith is a share as its owner sees it. Times are epoch milliseconds.
type SharedWith struct {
	ID          string  `json:"id"`
	SessionID   string  `json:"session_id"`
	Kind        Kind    `json:"kind"`
	UserID      *string `json:"user_id"` // nil of a link
	Access      Right   `json:"access"`
	CreatedTime int64   `json:"created_time"`
	ExpiresTime *int64  `json:"expires_time"` // nil is never
}

// NewShare is what an owner gives to share a session.
type NewShare struct {
	// ID is made by the caller. A share that has it already is of an earlier try: it
	// stays if it lets the same user in alike, and is replaced if it is a link, whose
	// token nobody may have seen.
	ID        string
	OwnerID   string
	SessionID string
	Right     Right
	UserID    string        // "" makes a link
	Life      time.Duration // 0 is for ever
	Token     string        // of a link; the store keeps its digest alone
}

// IsUserID reports whether a user can have an id, the sub of a token: one that is
// longer would fit into no key of the table.
func IsUserID(id string) bool {
	return id != "" && len(id) <= MaxUserIDBytes && utf8.ValidString(id) && utf8.RuneCountInString(id) <= MaxUserID
}

// Validate says which field breaks a rule.
func (n NewShare) Validate() error {
	switch {
	case n.Right != Read && n.Right != Write:
		return fault.Field(fault.Invalid, "/access", "must be read or write")
	case n.UserID == n.OwnerID:
		return fault.Field(fault.Invalid, "/user_id", "must be somebody else: the session is yours")
	case len(n.UserID) > MaxUserIDBytes:
		return fault.Field(fault.Invalid, "/user_id", "must be at most %d bytes", MaxUserIDBytes)
	case !IsUserID(n.UserID) && n.UserID != "" || strings.ContainsFunc(n.UserID, unicode.IsControl):
		return fault.Field(fault.Invalid, "/user_id", "must be at most %d characters, none of them control ones", MaxUserID)
	case n.Life < 0 || n.Life > MaxLife:
		return fault.Field(fault.Invalid, "/expires_in", "must be 1 to %d seconds", int64(MaxLife/time.Second))
	}
	return nil
}

// Accepted is what a link gives the user who accepts it.
type Accepted struct {
	SessionID   string `json:"session_id"`
	Access      Right  `json:"access"`
	ExpiresTime *int64 `json:"expires_time"` // epoch milliseconds, nil is never
}

// Shares keeps who was let into which session. Methods that take an owner's id
// answer fault.NotFound for a session that is not there and fault.Forbidden for
// one that is somebody else's.
type Shares interface {
	// Share lets a user or the holders of a token in; fault.Conflict where the
	// session has MaxShares.
	Share(ctx context.Context, n NewShare) (SharedWith, error)
	// Shares are those of a session that count now, the oldest first.
	Shares(ctx context.Context, ownerID, sessionID string) ([]SharedWith, error)
	// Revoke ends a share: whoever it let in is out when it returns. It may be
	// repeated.
	Revoke(ctx context.Context, ownerID, sessionID, shareID string) error
	// Accept lets a user in by the token of a link, once however often it is
	// called. fault.NotFound for a token that opens nothing now, whatever the
	// reason; fault.Conflict where MaxGuests have accepted it.
	Accept(ctx context.Context, userID, token string) (Accepted, error)
	// LeaveSession gives back all that a user was given in a session; it may be
	// repeated. fault.Conflict for its owner, fault.NotFound without a session.
	LeaveSession(ctx context.Context, userID, sessionID string) error
	// SharedWith lists the sessions of others that a user was let into and may
	// enter now, with Access saying how far. Each page is sorted by the latest
	// activity, the pages are in no order.
	SharedWith(ctx context.Context, q session.ListQuery) (session.ListPage, error)
}
