package eventlog

import (
	"github.com/rethread/rethread/shared/store/compaction"
	"github.com/rethread/rethread/shared/store/records"
)

// Store stores logs. What it remembers may be lost or out of date, and no other instance
// needs it. It is safe for concurrent use.
type Store struct {
	*reader
	Compaction compaction.Rules // which ranges are compacted
	owner      Owner
	watching   Watching                   // nil for nobody who knows the watchers
	headCache  *records.Memory[knownHead] // by log
}

// reader reads logs entry by entry. It writes nothing and remembers nothing.
type reader struct {
	records.Base
	content records.Bodies
}

// New returns a store over the table of base.
func New(base records.Base, content records.Bodies, owner Owner, rules compaction.Rules) *Store {
	return &Store{
		reader: &reader{Base: base, content: content}, Compaction: rules, owner: owner, headCache: &records.Memory[knownHead]{},
	}
}
