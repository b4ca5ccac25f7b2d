package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// CountSessions counts a user's sessions, and those with an active run, in the
// index, which may lag by a second.
func (s *counts) CountSessions(ctx context.Context, user string) (sessions, running int64, err error) {
	err = s.DB.Pages(ctx, table.Query{
		Index: store.ActivityIndex, Partition: keys.ActivityPK(user),
		Reading: table.Reading{Members: []string{HeaderStatus}},
	}, func(page []table.Item) (bool, error) {
		sessions += int64(len(page))
		for _, item := range page {
			if table.Text(item, HeaderStatus) == string(session.InProgress) {
				running++
			}
		}
		return true, nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count the sessions: %w", err)
	}
	return sessions, running, nil
}

// recountSessions replaces the count of the user's sessions;
// table.ErrConditionFailed if a session was created since it was read.
func (s *counts) recountSessions(ctx context.Context, user string, was *usage.QuotaItem) (int64, error) {
	n, _, err := s.CountSessions(ctx, user)
	if err != nil {
		return 0, err
	}
	same := table.NotExists(table.Path{usage.QuotaSessions})
	if was.Sessions != nil {
		same = table.Equal(table.Path{usage.QuotaSessions}, *was.Sessions)
	}
	return n, s.DB.Update(ctx, keys.QuotaKey(user), []table.Change{
		table.Set(table.Path{usage.QuotaSessions}, n), table.Set(table.Path{usage.QuotaCounted}, s.Millis()),
	}, same, records.Unchanged(usage.QuotaMoved, was.Moved))
}

// countTries limits the attempts to count: other changes of the session and
// other sessions of the user compete with it.
const countTries = 10

// AdmitBytes returns fault.Busy if the user may not store more.
func (s *counts) AdmitBytes(ctx context.Context, user string) error {
	if s.usage.Quotas.Bytes == 0 {
		return nil
	}
	q, err := s.usage.QuotaItem(ctx, user)
	if err != nil {
		return err
	}
	return s.usage.Quotas.AdmitBytes(q.Stored())
}

// CountBytes adds to the bytes of a session and of its user in one transaction;
// the session's deletion subtracts them. If it fails, the data stays stored but
// uncounted.
func (s *counts) CountBytes(ctx context.Context, l eventlog.Log, n int64) {
	if s.usage.Quotas.Bytes == 0 || n == 0 {
		return
	}
	tries := 0
	err := records.Settled(ctx, func() error {
		tries++
		err := s.tryCountBytes(ctx, l, n)
		if errors.Is(err, table.ErrConditionFailed) && tries == countTries {
			err = records.Busy("the session or its user changes too often")
		}
		return err
	})
	if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) { // a deleted session stores nothing
		s.Log.WarnContext(ctx, "bytes are not counted", "session_id", l.Session, "bytes", n, "error", err)
	}
}

// tryCountBytes makes one attempt; table.ErrConditionFailed if another change
// came first.
func (s *counts) tryCountBytes(ctx context.Context, l eventlog.Log, n int64) error {
	err := s.DB.Transact(ctx,
		table.Update(keys.SessionKey(l.Session), []table.Change{table.Add(table.Path{headerBytes}, n)}, table.Equal(table.Path{HeaderLog}, l.Name)),
		table.Update(keys.QuotaKey(l.User), []table.Change{table.Add(table.Path{usage.QuotaBytes}, n)}))
	if errors.Is(err, table.ErrConditionFailed) {
		if gone := s.logs.CheckExists(ctx, l.Name); gone != nil {
			return gone
		}
	}
	return err
}

// AdmitSession returns fault.Busy if the user may not have one more session, by
// the number of sessions or of bytes. The creation itself is counted by an atomic
// addition, so that concurrent ones do not exceed the limit.
func (s *counts) AdmitSession(ctx context.Context, user string) error {
	if s.usage.Quotas.Sessions == 0 {
		return s.AdmitBytes(ctx, user)
	}
	return records.Settled(ctx, func() error { return s.sessionsLeft(ctx, user) })
}

// sessionsLeft checks the number of sessions, recounting them if necessary;
// table.ErrConditionFailed if one was created while they were counted.
func (s *counts) sessionsLeft(ctx context.Context, user string) error {
	q, err := s.usage.QuotaItem(ctx, user)
	if err != nil {
		return err
	}
	if err := s.usage.Quotas.AdmitBytes(q.Stored()); err != nil {
		return err
	}
	recount, err := s.usage.Quotas.AdmitSession(quota.SessionCount{
		Known: q.Sessions != nil, Number: records.Deref(q.Sessions), Created: q.Moved, Counted: q.Counted,
	}, s.Now())
	if err != nil || !recount {
		return err
	}
	n, err := s.recountSessions(ctx, user, q)
	if err != nil {
		return err
	}
	return s.usage.Quotas.AdmitCounted(n)
}

// countCreated returns the write that counts a new session, for the transaction
// that creates it. A session created without being counted is never counted, so
// that its deletion is not subtracted.
func (s *counts) countCreated(h *Header) (_ table.Write, counts bool) {
	var changes []table.Change
	var admitted []table.Condition
	if s.usage.Quotas.Sessions > 0 {
		h.Counted = true
		changes = append(changes, table.Set(table.Path{usage.QuotaMoved}, s.Millis()), table.Add(table.Path{usage.QuotaSessions}, 1))
		admitted = append(admitted, table.Less(table.Path{usage.QuotaSessions}, s.usage.Quotas.Sessions))
	}
	if h.Bytes > 0 { // an imported session
		changes = append(changes, table.Add(table.Path{usage.QuotaBytes}, h.Bytes))
	}
	if len(changes) == 0 {
		return table.Write{}, false
	}
	return table.Update(keys.QuotaKey(h.User), changes, admitted...), true
}

// CountDeleted returns the write that subtracts a session from its user's usage,
// unless that was erased concurrently.
func (s *counts) CountDeleted(ctx context.Context, h *Header) (_ table.Write, counts bool, err error) {
	if !h.Counted && h.Bytes == 0 {
		return table.Write{}, false, nil
	}
	q, err := s.usage.QuotaItem(ctx, h.User)
	if err != nil {
		return table.Write{}, false, err
	}
	var less []table.Change
	var there []table.Condition
	for _, part := range []struct {
		name string
		less int64
		had  *int64
	}{{usage.QuotaSessions, one(h.Counted), q.Sessions}, {usage.QuotaBytes, h.Bytes, q.Bytes}} {
		if part.less == 0 || part.had == nil {
			continue
		}
		less = append(less, table.Add(table.Path{part.name}, -part.less))
		there = append(there, table.Exists(table.Path{part.name}))
	}
	if len(less) == 0 {
		return table.Write{}, false, nil
	}
	return table.Update(keys.QuotaKey(h.User), less, there...), true, nil
}

func one(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// SameBytes is the condition that the session's bytes have not changed.
func (h *Header) SameBytes() table.Condition {
	same := table.Equal(table.Path{headerBytes}, h.Bytes)
	if h.Bytes == 0 {
		return table.Or(table.NotExists(table.Path{headerBytes}), same)
	}
	return same
}
