package runs

import (
	"context"

	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store/records"
)

// Usage implements quota.Store.
func (s *Store) Usage(ctx context.Context, userID string) (quota.Usage, error) {
	q, err := s.usage.QuotaItem(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	sessions, runs, err := s.sessions.CountSessions(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	if s.usage.Quotas.Sessions > 0 && q.Sessions != nil {
		sessions = *q.Sessions
	}
	if s.usage.Quotas.Runs > 0 {
		live, _, err := s.liveRuns(ctx, q.Runs)
		if err != nil {
			return quota.Usage{}, err
		}
		runs = int64(len(live))
	}
	streams, err := s.usage.OpenStreams(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	return quota.Usage{
		Sessions: quota.NewUse(sessions, s.usage.Quotas.Sessions),
		Runs:     quota.NewUse(runs, s.usage.Quotas.Runs),
		Bytes:    quota.NewUse(records.Deref(q.Bytes), s.usage.Quotas.Bytes),
		Streams:  quota.NewUse(streams, s.usage.Quotas.Streams),
	}, nil
}
