package sessions

import (
	"context"
	"time"
)

// Functions stay warm, and the events of an answer often meet the same instance. So a
// store remembers what appends need of a session's header.

// knownTime is how long a header is remembered. It must be well below sweep.Grace:
// until then the log of a deleted session says at its head that it was deleted.
const knownTime = time.Minute

// knownHeader is a header without what appends do not need.
type knownHeader struct {
	header Header
	until  time.Time
}

// withoutContent returns the header without what appends do not need.
func (h *Header) withoutContent() Header {
	return Header{
		PK: h.PK, SK: h.SK, User: h.User, App: h.App, Agent: h.Agent, Log: h.Log, GPK: h.GPK,
	}
}

// headerForAppend returns a header that has at least what an append needs. It may be
// that of a session that was deleted since.
func (s *Store) headerForAppend(ctx context.Context, userID, id string) (*Header, error) {
	if k, ok := s.headerCache.Get(id); ok && k.header.User == userID && s.Now().Before(k.until) {
		return &k.header, nil
	}
	now := s.Now()
	h, err := s.HeaderEventually(ctx, userID, id)
	if err != nil {
		return nil, err
	}
	if h.Origin == nil { // that of a fork contains what the fork has taken over
		s.headerCache.Put(id, knownHeader{header: h.withoutContent(), until: now.Add(knownTime)})
	}
	return h, nil
}
