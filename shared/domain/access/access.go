// Package access is the domain of authorisation for sessions: the rights, the rule
// that decides which right an action needs, the shares by which owners give access,
// and the gate that every transport uses.
package access

import (
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
)

// Right is how much a caller may do with a session. A greater right includes all
// lesser ones.
type Right int

// The rights. OwnerOnly cannot be given away.
const (
	None Right = iota
	Read
	Write
	OwnerOnly
)

// String returns the right's name in the API.
func (r Right) String() string {
	switch r {
	case Read:
		return "read"
	case Write:
		return "write"
	case OwnerOnly:
		return "own"
	case None:
	}
	return "none"
}

// MarshalText implements encoding.TextMarshaler.
func (r Right) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// ParseRight parses a right that can be given away.
func ParseRight(name string) (Right, error) {
	switch name {
	case "read":
		return Read, nil
	case "write":
		return Write, nil
	}
	return None, fault.New(fault.Invalid, "%q is no right: use read or write", name)
}

// Permission is what a caller may do with a session, and the owner as whom the
// store is called.
type Permission struct {
	Owner string
	By    Caller // who has the permission
	// Log is the session's log, set if the gate has read it.
	Log   string
	Right Right
	// Share is the id of the share that gives the right, "" for the owner and for
	// an admin.
	Share string
	// Until is when the right ends, in epoch milliseconds; 0 is unlimited.
	Until int64
}

// Guest reports whether the permission comes from a share, which covers only the
// session and nothing that its owner's sessions have in common.
func (p Permission) Guest() bool { return p.Share != "" }

// AdminLabel is the Label of a reading admin.
const AdminLabel = "admin"

// Label is the access label in the JSON of a session for callers other than its
// owner; "" for the owner.
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

// ownerPermission returns the permission of a session's owner.
func ownerPermission(c Caller) Permission {
	return Permission{Owner: c.UserID, Right: OwnerOnly, By: c}
}

// refusal returns the fault for a caller without the right that an action needs.
func refusal(a Action, has Permission) error {
	return fault.New(fault.RightRequired, "You may only %s this session: to %s takes %s", has.allowed(), a, requirement(a))
}

func (p Permission) allowed() string {
	if p.Right == Write {
		return "read and write"
	}
	return "read"
}

func requirement(a Action) string {
	switch {
	case a == ReadRequests:
		return "its owner or an admin"
	case a.Right() == OwnerOnly:
		return "its owner"
	}
	return fmt.Sprintf("the right to %s", a.Right())
}
