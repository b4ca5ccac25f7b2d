package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/store/eventlog"
)

// Inherited implements owner.
func (s *Store) Inherited(ctx context.Context, l eventlog.Log, seq int64) (*eventlog.Record, error) {
	h, err := s.Header(ctx, l.User, l.Session)
	if err != nil {
		return nil, err
	}
	whole, err := h.Whole()
	if err != nil {
		return nil, err
	}
	r := whole.After(seq - 1)[0]
	rec, err := s.logs.EntryCovering(ctx, r.Log, r.From)
	if err != nil {
		return nil, err
	}
	for i, e := range rec.Events {
		rec.Events[i] = h.Show(r, e)
	}
	return rec, nil
}
