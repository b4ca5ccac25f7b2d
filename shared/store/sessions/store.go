// Package sessions stores the headers of sessions: who owns a session, what it shows of
// which logs, its state, and its place in its user's list.
package sessions

import (
	"sync/atomic"

	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/usage"
)

// Store stores sessions. It is safe for concurrent use. What it remembers may be lost or
// out of date, and no other instance needs it.
type Store struct {
	*counts
	retention   session.Retention
	headerCache *records.Memory[knownHeader]   // by session
	onTop       *records.Memory[knownActivity] // by partition of the index
	Parts       int                            // of each level in an outline, at most
}

// counts counts what users have, and refuses what is more than they may have.
type counts struct {
	*reader
	usage *usage.Store
}

// reader reads sessions and finds positions in their logs. The only thing that it
// writes is the end of a deletion that stopped halfway.
type reader struct {
	*departures
	content records.Bodies
	older   *atomic.Pointer[older] // the one that was read last
}

// departures ends deletions.
type departures struct {
	records.Base
	logs *eventlog.Store
}

// New returns a store over the table of base.
func New(base records.Base, bodies records.Bodies, limits *usage.Store, retention session.Retention, rules compaction.Rules, parts int) *Store {
	read := &reader{departures: &departures{Base: base}, content: bodies, older: &atomic.Pointer[older]{}}
	s := &Store{
		counts: &counts{reader: read, usage: limits}, retention: retention,
		headerCache: &records.Memory[knownHeader]{}, onTop: &records.Memory[knownActivity]{}, Parts: parts,
	}
	s.logs = eventlog.New(base, bodies, s, rules, limits.Quotas.Bytes > 0)
	return s
}

// Logs returns the store of the sessions' logs.
func (s *Store) Logs() *eventlog.Store { return s.logs }
