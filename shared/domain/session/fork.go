package session

import "github.com/rethread/rethread/shared/base/fault"

// ForkSource is the source of a fork, as it was read.
type ForkSource struct {
	Shown Timeline // what it shows now
	Last  int64    // seq of its newest event, 0 for none
	// Target is the seq of the first entry with the boundary's invocation, 0 if the
	// log has none; Then is what the session showed just before that entry.
	Target int64
	Then   Timeline
}

// Boundary is the part of its source that a fork inherits.
type Boundary struct {
	Timeline Timeline // what the fork inherits
	At       int64    // the last seq of the source's log before the boundary
	Found    bool     // false if everything is inherited instead
}

// Boundary decides what a fork inherits: what its source showed just before the
// target or, if no boundary is given or the log does not have it, what it shows now.
// It returns fault.Malformed for a missing boundary if the fork is strict.
func (f ForkOf) Boundary(s ForkSource) (Boundary, error) {
	switch {
	case s.Target > 0:
		return Boundary{Timeline: s.Then, At: s.Target - 1, Found: true}, nil
	case f.Before != nil && f.Strict:
		return Boundary{}, fault.Field(fault.Malformed, "/rewind_before_invocation_id", "is not in the session's log")
	}
	return Boundary{Timeline: s.Shown.Before(s.Last + 1), At: s.Last, Found: f.Before == nil}, nil
}

// NameOf returns the name of a fork: the requested one, or else one derived from the
// source's name, or from its id if it has none; at most MaxName characters.
func (f ForkOf) NameOf(source, id string) string {
	name := "Fork of " + source
	switch {
	case f.Name != nil:
		name = *f.Name
	case source == "":
		name = "Fork of " + id
	}
	if runes := []rune(name); len(runes) > MaxName {
		name = string(runes[:MaxName])
	}
	return name
}
