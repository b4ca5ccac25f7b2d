package sessions

import (
	"context"
	"sync"
	"time"
)

// Functions stay warm, and the events of an answer often meet the same instance. So a
// store remembers what appends need of a session's header.

const (
	// knownTime is how long a header is remembered. It must be well below SweepGrace:
	// until then the log of a deleted session says at its head that it was deleted.
	knownTime = time.Minute
	// knownHeaders is how many are remembered, of some 500 bytes each.
	knownHeaders = 1000
)

// knownHeader is a header without what appends do not need.
type knownHeader struct {
	header header
	until  time.Time
}

// headerMemory is safe for concurrent use.
type headerMemory struct {
	mu   sync.Mutex
	byID map[string]knownHeader
}

func (m *headerMemory) get(id string, now time.Time) *header {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.byID[id]
	if !ok || now.After(k.until) {
		return nil
	}
	h := k.header
	return &h
}

// put remembers a header. Those of forks are not remembered: they contain what the fork
// has taken over.
func (m *headerMemory) put(h *header, now time.Time) {
	if h.Origin != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil || len(m.byID) >= knownHeaders { // all at once: the order of use is not worth its upkeep
		m.byID = make(map[string]knownHeader, knownHeaders)
	}
	m.byID[h.id()] = knownHeader{until: now.Add(knownTime), header: header{
		PK: h.PK, SK: h.SK, User: h.User, App: h.App, Agent: h.Agent, Log: h.Log, NamedIDs: h.NamedIDs, GPK: h.GPK,
	}}
}

func (m *headerMemory) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byID, id)
}

// headerForAppend returns a header that has at least what an append needs. It may be
// that of a session that was deleted since.
func (s *Store) headerForAppend(ctx context.Context, userID, id string) (*header, error) {
	if h := s.known.get(id, time.Now()); h != nil && h.User == userID {
		return h, nil
	}
	h, err := s.headerEventually(ctx, userID, id)
	if err == nil {
		s.known.put(h, time.Now())
	}
	return h, err
}
