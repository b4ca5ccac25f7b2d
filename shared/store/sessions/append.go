package sessions

import (
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
)

// Append implements session.Store. The batch becomes one log entry, put at the head
// on condition that its position is free; a writer that loses the race reads the
// entries that came in between and tries again after them.
//
// What an append needs of the session's header never changes while the log exists, so
// the header is remembered, and read with eventual consistency, at half the price. A
// memory, or a replica that lags, may show a deleted session, whose log says so at its
// head, or miss one: the header is then read again.
func (s *Store) Append(ctx context.Context, a session.Append) ([]session.Event, int, error) {
	h, err := s.headerForAppend(ctx, a.UserID, a.SessionID)
	var stored []session.Event
	var appended int
	if err == nil {
		stored, appended, err = s.appendTo(ctx, h, a)
	}
	if !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)) {
		return stored, appended, err
	}
	s.headerCache.Forget(a.SessionID)
	now, failed := s.Header(ctx, a.UserID, a.SessionID)
	switch {
	case failed != nil:
		return nil, 0, failed
	case h != nil && now.Log == h.Log: // something else is missing
		return nil, 0, err
	}
	return s.appendTo(ctx, now, a)
}

// appendTo appends to the log of a session as it was read.
func (s *Store) appendTo(ctx context.Context, h *Header, a session.Append) ([]session.Event, int, error) {
	with := eventlog.Along{
		Keyed: a.Keyed, Expected: a.ExpectedSeq, Limited: true, Patience: eventlog.AppendTime,
		Remembers: a.ExpectedSeq == nil && (a.Keyed == nil || !a.Keyed.FindOnly),
	}
	events := slices.Clone(a.Events)
	if a.Keyed != nil && a.Keyed.FindOnly {
		found, err := s.logs.FindAppended(ctx, h.OfLog(), events, with)
		return InSession(found.Events, a.SessionID), 0, s.NotFoundIfDeleted(ctx, h, err)
	}
	newest := s.CheckOnTop
	if with.Remembers && s.logs.Recalls(h.Log) {
		newest = s.checkOnTopOnce
	}
	onTop := newest(ctx, h)
	done, err := s.logs.Append(ctx, h.OfLog(), events, with)
	if err != nil {
		return nil, 0, s.NotFoundIfDeleted(ctx, h, err)
	}
	if done.Fresh > 0 {
		s.TouchActivity(ctx, h, onTop, done.Head.Time, false)
	}
	return InSession(done.Events, a.SessionID), done.Fresh, nil
}

// InSession returns events with the id of their session.
func InSession(events []session.Event, id string) []session.Event {
	for i := range events {
		events[i].SessionID = id
	}
	return events
}
