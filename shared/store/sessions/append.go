package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
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

// withoutContent returns the header without what appends do not need.
func (h *Header) withoutContent() Header {
	return Header{
		PK: h.PK, SK: h.SK, GPK: h.GPK,
		Identity: Identity{User: h.User, App: h.App, Log: h.Log}, Settings: Settings{Agent: h.Agent},
	}
}

// InSession returns events with the id of their session.
func InSession(events []session.Event, id string) []session.Event {
	for i := range events {
		events[i].SessionID = id
	}
	return events
}

// A user's list is ordered by last activity. During a conversation the order rarely
// changes: only if another session was active in between does this one have to move
// up, which costs three write units. A cheap read of the index, made while the rest
// of the append is under way, decides that.

// onTopTime is how long a session that was at the top of the list is taken to be there by
// an instance that appends to it again and again.
const onTopTime = 5 * time.Second

// knownActivity is the session that an instance has seen at the top of a user's list.
type knownActivity struct {
	pk   string
	seen time.Time
}

// checkOnTopOnce is CheckOnTop for a session that this instance has just seen there.
func (s *Store) checkOnTopOnce(ctx context.Context, h *Header) func() (bool, error) {
	if k, ok := s.onTop.Get(h.GPK); ok && k.pk == h.PK && s.Now().Sub(k.seen) < onTopTime {
		return func() (bool, error) { return true, nil }
	}
	return s.CheckOnTop(ctx, h)
}

// CheckOnTop starts reading which of the user's sessions is at the top of the
// list. The returned function waits for the answer and caches it for each attempt
// of a write.
func (s *Store) CheckOnTop(ctx context.Context, h *Header) func() (bool, error) {
	type answer struct {
		newest bool
		err    error
	}
	done, began := make(chan answer, 1), s.Now()
	go func() {
		page, err := s.DB.Query(ctx, records.KeysOnly(table.Query{
			Index: store.ActivityIndex, Partition: h.GPK, Descending: true, Limit: 1,
		}))
		if err != nil {
			done <- answer{err: fmt.Errorf("read the newest session: %w", err)}
			return
		}
		if len(page.Items) == 0 {
			done <- answer{}
			return
		}
		newest := table.Text(page.Items[0], table.PK)
		s.onTop.Put(h.GPK, knownActivity{newest, began})
		done <- answer{newest: newest == h.PK}
	}()
	return sync.OnceValues(func() (bool, error) { a := <-done; return a.newest, a.err })
}

// ActivityChanges returns the changes of the header that move the session to the
// top of its user's list; none if it is there already.
func (h *Header) ActivityChanges(newest func() (bool, error), now int64) ([]table.Change, error) {
	onTop, err := newest()
	if err != nil || onTop {
		return nil, err
	}
	return []table.Change{h.moveToTop(now)}, nil
}

// moveToTop is the change that moves the session to the top of its user's list.
func (h *Header) moveToTop(now int64) table.Change {
	return table.Set(table.Path{keys.AttrGSK}, keys.ActivitySK(now, h.ID()))
}

// TouchActivity moves the session to the top of its user's list. If it is there
// already this costs nothing, or one write unit with touch, which records an
// activity without a log entry. A failure is not an error of the request: the next
// activity corrects the list.
func (s *Store) TouchActivity(ctx context.Context, h *Header, newest func() (bool, error), now int64, touch bool) {
	onTop, err := newest()
	if err == nil && onTop && !touch {
		return
	}
	changes := []table.Change{table.Set(table.Path{HeaderLastActivity}, now)}
	if !onTop {
		changes = append(changes, h.moveToTop(now))
	}
	if err == nil {
		err = s.DB.Update(ctx, keys.SessionKey(h.ID()), changes, h.SameLog(), table.Less(table.Path{HeaderLastActivity}, now))
	}
	if err == nil && !onTop {
		s.onTop.Put(h.GPK, knownActivity{h.PK, s.Now()})
	}
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		s.Log.WarnContext(ctx, "session list not updated", "session_id", h.ID(), "error", err)
	}
}
