package session

import "github.com/rethread/rethread/shared/base/fault"

// ForkSource is the session that a fork begins with, as it was read.
type ForkSource struct {
	Shown Timeline // what it shows now
	Last  int64    // seq of its newest event, 0 for none
	// Target is the seq of the first entry with the boundary's invocation, 0 if its
	// log has none; Then is what the session showed just before that.
	Target int64
	Then   Timeline
}

// Boundary is where a fork leaves its source.
type Boundary struct {
	Timeline Timeline // what the fork takes over
	At       int64    // the last seq of the source's log before the boundary
	Found    bool     // false if everything was taken over instead
}

// Boundary decides what a fork takes over: what its source showed just before the
// target or, if no boundary is given or the log does not have it, what it shows
// now. fault.Malformed for a missing boundary if the fork is strict.
func (f ForkOf) Boundary(s ForkSource) (Boundary, error) {
	switch {
	case s.Target > 0:
		return Boundary{Timeline: s.Then, At: s.Target - 1, Found: true}, nil
	case f.Before != nil && f.Strict:
		return Boundary{}, fault.Field(fault.Malformed, "/rewind_before_invocation_id", "is not in the session's log")
	}
	return Boundary{Timeline: s.Shown.Before(s.Last + 1), At: s.Last, Found: f.Before == nil}, nil
}

// NameOf is the name of a fork of a session: the one that was asked for or else
// made of the source's, or of its id if it has none; at most MaxName characters.
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
