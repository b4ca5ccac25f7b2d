package eventlog

import (
	"context"

	"github.com/rethread/rethread/shared/store/table"
)

// Log names a log, and says what its entries go by.
type Log struct {
	Name    string // in keys; a session that is created again has another
	Session string
	User    string // the owner
	App     string
	Base    int64 // the last seq that the session took over from others, 0 for none
}

// Owner is what logs ask of the room that gives them to sessions.
type Owner interface {
	// Holds returns fault.NotFound if the session does not have the log any more.
	Holds(ctx context.Context, l Log) error
	// StillHolds is the condition that the session has the log, for transactions that do not
	// change the session.
	StillHolds(l Log) table.Write
	// Inherited reads the entry that contains a seq which the session took over, with
	// its events as the session shows them.
	Inherited(ctx context.Context, l Log, seq int64) (*Record, error)
	// LimitsBytes reports whether bytes are counted at all.
	LimitsBytes() bool
	// AdmitBytes returns fault.Busy if the user may not store more.
	AdmitBytes(ctx context.Context, user string) error
	// CountBytes adds to the bytes of a log and its user. If that fails, they stay
	// uncounted.
	CountBytes(ctx context.Context, l Log, n int64)
}
