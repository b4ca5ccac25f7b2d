package runs

import (
	"context"

	"github.com/rethread/rethread/shared/domain/session"
)

// Get implements session.Store.
func (s *Store) Get(ctx context.Context, userID, id string) (session.Session, error) {
	h, at, _, err := s.ReadSettled(ctx, userID, id)
	if err != nil {
		return session.Session{}, err
	}
	return s.sessions.Render(h, at)
}
