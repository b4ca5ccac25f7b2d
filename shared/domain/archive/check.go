package archive

import (
	"maps"

	"github.com/rethread/rethread/shared/domain/session"
)

// LogHead is the position of the next event of an imported log, and what that event
// needs of those before it. Positions are seqs, 0 for none.
type LogHead struct {
	Next   int64 // position of the next event
	State  int64 // of the last entry that changed the state
	Marker int64 // of the last rewind
	Epoch  int64 // number of rewinds
	Deltas int64 // offset of a watcher's cursor after the last entry
}

// Before is the state of an import before a part: the result of the parts before it.
type Before struct {
	// SessionID is the id that the session gets, which need not be the document's.
	SessionID string
	Head      Head // of the document
	Log       LogHead
	// Values are the session's own state, artifacts included; Timeline is that of
	// the last rewind; Shared counts versions of artifacts that the user's sessions
	// share.
	Values   session.Values
	Timeline Timeline
	Shared   int
}

// Entry is the events that a log stores in one entry, and their links to other
// entries (0 for none): the newest one up to here that changes the state and the
// newest that marks a rewind, this one included, and on such an entry the previous
// one.
type Entry struct {
	Events                 []Event // at least one
	LastState, PrevState   int64
	LastMarker, PrevMarker int64
	Epoch                  int64 // this entry included
	PrevDeltas             int64 // LogHead.Deltas before it
}

// Checked is a part that continues the parts before it.
type Checked struct {
	Entries []Entry
	// Targets are the contents of the restored versions among the part's artifacts,
	// by their index.
	Targets map[int]Target
	After   Before // what the next part continues
}

// Check decides whether a part continues what came before it, and makes entries of
// its events:
//   - Events have dense seqs. Only the first event of a log carries the initial
//     state. Events that join others were appended at the same time.
//   - A rewind's timeline has ordered ranges, the last one open after its marker.
//   - Tasks are at known events.
//   - A restored version of an artifact names one before it. At most MaxShared
//     versions are for the user's other sessions.
//   - The end of the document agrees with its head, and its state with the result
//     of the events.
//
// stored finds the artifacts of earlier parts; its errors are returned. The part
// itself is not changed. Check returns fault.Invalid or fault.Malformed, with a JSON
// pointer, for a broken rule, and fault.TooLarge if the state exceeds its limit.
func (p *Part) Check(b Before, stored Stored) (Checked, error) {
	b.Values = maps.Clone(b.Values)
	if b.Values == nil {
		b.Values = session.Values{}
	}
	c := &checker{part: p, Checked: Checked{After: b, Targets: map[int]Target{}}}
	if err := c.events(); err != nil {
		return Checked{}, err
	}
	if err := c.tasks(); err != nil {
		return Checked{}, err
	}
	if err := c.artifacts(stored); err != nil {
		return Checked{}, err
	}
	if p.Complete {
		if err := c.end(); err != nil {
			return Checked{}, err
		}
	}
	return c.Checked, nil
}

// checker is the state of Check for one part.
type checker struct {
	Checked
	part *Part
}
