package sessions

import (
	"slices"
)

// Lineage is a fork between a log that a session reads and the session itself: it
// may have changed what it took over.
type Lineage struct {
	Log  string `dynamodbav:"l"`
	Gen  int64  `dynamodbav:"g"`
	Base int64  `dynamodbav:"n"`
	From string `dynamodbav:"f"` // the log that it was forked from
	At   int64  `dynamodbav:"at"`
}

// Under reports whether a fork of the lineage is nearer to this session than the
// session of a log, that is, whether it took over from that log.
func (h *Header) Under(fork, log string) bool {
	for _, l := range h.Origin.Lineage { // nearest first
		switch l.Log {
		case fork:
			return true
		case log:
			return false
		}
	}
	return false
}

// InheritedID returns the id that a task of a log in the lineage has in this session:
// each fork in between gave it another.
func (h *Header) InheritedID(log, id string) string {
	for _, l := range slices.Backward(h.Origin.Lineage) {
		if h.Under(l.Log, log) && l.Log != log {
			id = forkedTaskID(l.Log, id)
		}
	}
	return forkedTaskID(h.Log, id)
}
