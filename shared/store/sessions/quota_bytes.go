package sessions

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// countTries limits the attempts to count: other changes of the session and
// other sessions of the user compete with it.
const countTries = 10

// LimitsBytes implements eventlog.Owner.
func (s *Store) LimitsBytes() bool { return s.usage.Quotas.Bytes > 0 }

// AdmitBytes returns fault.Busy if the user may not store more.
func (s *Store) AdmitBytes(ctx context.Context, user string) error {
	if s.usage.Quotas.Bytes == 0 {
		return nil
	}
	q, err := s.usage.QuotaItem(ctx, user)
	if err != nil {
		return err
	}
	return s.usage.Quotas.AdmitBytes(records.Deref(q.Bytes))
}

// CountBytes adds to the bytes of a session and of its user in one transaction;
// the session's deletion subtracts them. If it fails, the data stays stored but
// uncounted.
func (s *Store) CountBytes(ctx context.Context, l eventlog.Log, n int64) {
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
func (s *Store) tryCountBytes(ctx context.Context, l eventlog.Log, n int64) error {
	err := s.DB.Transact(ctx,
		table.Update(keys.SessionKey(l.Session), []table.Change{table.Add(table.At(headerBytes), n)}, table.Equal(table.At(HeaderLog), l.Name)),
		table.Update(keys.QuotaKey(l.User), []table.Change{table.Add(table.At(usage.QuotaBytes), n)}))
	if errors.Is(err, table.ErrConditionFailed) {
		if gone := s.logs.CheckExists(ctx, l.Name); gone != nil {
			return gone
		}
	}
	return err
}
