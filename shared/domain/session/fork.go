package session

import "github.com/rethread/rethread/shared/base/fault"

// ForkSource is the source of a fork, as it was read.
type ForkSource struct {
	Shown Outline // what it shows now
	Last  int64   // seq of its newest event, 0 for none
	// Target is the seq of the first entry with the boundary's invocation, 0 if the
	// log has none; Then is what the session showed just before that entry.
	Target int64
	Then   Outline
}

// Boundary is the part of its source that a fork inherits.
type Boundary struct {
	Outline  Outline // what the fork inherits
	Position int64   // the last seq of the source's log before the boundary
	Found    bool    // false if everything is inherited instead
}

// Boundary decides what a fork inherits: what its source showed just before the
// target or, if no boundary is given or the log does not have it, what it shows now.
// It returns fault.Malformed for a missing boundary if the fork is strict.
func (f ForkOf) Boundary(s ForkSource) (Boundary, error) {
	switch {
	case s.Target > 0:
		return Boundary{Outline: s.Then, Position: s.Target - 1, Found: true}, nil
	case f.Before != nil && f.Strict:
		return Boundary{}, fault.Field(fault.BoundaryNotFound, "/rewind_before_invocation_id", "is not in the session's log")
	}
	return Boundary{Outline: s.Shown.closed(s.Last), Position: s.Last, Found: f.Before == nil}, nil
}

// OpenItem is an item that was in progress when the head of the source's log was
// read, as it was read after that.
type OpenItem struct {
	Log        string
	Position   int64
	InProgress bool  // still
	Change     Delta // of a completed item
}

// Resolve decides what becomes of an item that may be in progress. A fork cannot
// watch an item grow: one in progress is left out, and everything after it stays. A
// completed item stays too. If it changes the state, compare is true: the fork is
// right only if the state that was read includes the change, that is if no change was
// appended since.
func (b Boundary) Resolve(item OpenItem) (out Boundary, compare bool) {
	if item.InProgress {
		b.Outline = b.Outline.Without(item.Log, item.Position)
		return b, false
	}
	return b, len(item.Change) > 0
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
