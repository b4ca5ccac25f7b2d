// Package access is the domain of who may do what with whose session: the
// rights, the rule that says which right an action takes, the shares by which
// owners let others in, and the gate that every transport asks.
package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
)

// Right is how far somebody may go with a session. A greater one holds all that
// the lesser ones hold.
type Right int

// The rights. Nobody can be given Own: it is the owner's.
const (
	None Right = iota
	Read
	Write
	Own
)

// String is the right as the API names it.
func (r Right) String() string {
	switch r {
	case Read:
		return "read"
	case Write:
		return "write"
	case Own:
		return "own"
	case None:
	}
	return "none"
}

// MarshalText implements encoding.TextMarshaler.
func (r Right) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// ParseRight reads a right that can be given away.
func ParseRight(name string) (Right, error) {
	switch name {
	case "read":
		return Read, nil
	case "write":
		return Write, nil
	}
	return None, fault.New(fault.Invalid, "%q is no right: use read or write", name)
}

// Caller is who asks: a user, whom a verified token names.
type Caller struct {
	UserID string
	// Admin is set where the token's scope lets the caller read every session.
	Admin bool
}

// Admin reports whether a token's scope, words separated by blanks (RFC 6749,
// section 3.3), holds the word that makes admins; "" makes nobody one.
func Admin(scope, word string) bool {
	return word != "" && slices.Contains(strings.Fields(scope), word)
}

// Permission is what a caller may do with a session, and as whom the store is asked.
type Permission struct {
	Owner string
	// Log is the session's, where the gate has looked at it.
	Log   string
	Right Right
	// Share is the id of the share that the right comes from, "" for the owner
	// and for an admin.
	Share string
	// Until is when the right ends, in epoch milliseconds; 0 is never.
	Until int64
}

// Guest reports whether the pass comes from a share, which covers the session
// alone and nothing that its owner's sessions have in common.
func (p Permission) Guest() bool { return p.Share != "" }

// AdminLabel is the Label of an admin who reads.
const AdminLabel = "admin"

// Label is what a session's JSON says about a caller who does not own it; ""
// for its owner.
func (p Permission) Label() string {
	switch {
	case p.Guest():
		return p.Right.String()
	case p.Right == Read:
		return AdminLabel
	default:
		return ""
	}
}

// owns is the pass of a session's owner.
func owns(userID string) Permission { return Permission{Owner: userID, Right: Own} }

// refusal is what a caller is told whose right does not reach.
func refusal(a Action, has Permission) error {
	return fault.New(fault.Forbidden, "You may only %s this session: to %s takes %s", has.verb(), a, needs(a))
}

func (p Permission) verb() string {
	if p.Right == Write {
		return "read and write"
	}
	return "read"
}

func needs(a Action) string {
	if a.Right() == Own {
		return "its owner"
	}
	return fmt.Sprintf("the right to %s", a.Right())
}
