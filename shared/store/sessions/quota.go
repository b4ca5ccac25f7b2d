package sessions

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// CountSessions counts a user's sessions, and those with an active run, in the
// index, which may lag by a second.
func (s *Store) CountSessions(ctx context.Context, user string) (sessions, running int64, err error) {
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
func (s *Store) recountSessions(ctx context.Context, user string, was *usage.QuotaItem) (int64, error) {
	n, _, err := s.CountSessions(ctx, user)
	if err != nil {
		return 0, err
	}
	same := table.NotExists(table.At(usage.QuotaSessions))
	if was.Sessions != nil {
		same = table.Equal(table.At(usage.QuotaSessions), *was.Sessions)
	}
	return n, s.DB.Update(ctx, keys.QuotaKey(user), []table.Change{
		table.Set(table.At(usage.QuotaSessions), n), table.Set(table.At(usage.QuotaCounted), s.Millis()),
	}, same, records.Unchanged(usage.QuotaMoved, was.Moved))
}
