package eventlog

import (
	"context"

	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Store stores logs. What it remembers may be lost or out of date, and no other instance
// needs it. It is safe for concurrent use.
type Store struct {
	*reader
	Compaction compaction.Rules // which ranges are compacted
	owner      Owner
	counts     bool                       // whether bytes are limited, and so are counted
	watching   Watching                   // nil for nobody who knows the watchers
	headCache  *records.Memory[knownHead] // by log
}

// reader reads logs entry by entry. It writes nothing and remembers nothing.
type reader struct {
	records.Base
	content records.Bodies
}

// New returns a store over the table of base; limited says whether bytes are limited.
func New(base records.Base, content records.Bodies, owner Owner, rules compaction.Rules, limited bool) *Store {
	return &Store{
		reader: &reader{Base: base, content: content}, Compaction: rules, owner: owner, counts: limited, headCache: &records.Memory[knownHead]{},
	}
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
	// AdmitBytes returns fault.Busy if the user may not store more.
	AdmitBytes(ctx context.Context, user string) error
	// CountBytes adds to the bytes of a log and its user. If that fails, they stay
	// uncounted.
	CountBytes(ctx context.Context, l Log, n int64)
}
