package automations

import (
	"context"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// Targets returns the automations of a user that act on an event.
func (s *Store) Targets(ctx context.Context, e delivery.Event) ([]delivery.Target, error) {
	if !e.Type.Public() || e.UserID == "" {
		return nil, nil
	}
	all, err := s.Automations(ctx, e.UserID)
	if err != nil {
		return nil, err
	}
	var targets []delivery.Target
	for _, a := range all {
		if a.Wants(e) {
			targets = append(targets, automation.Target(e.UserID, a.ID, e.SessionID))
		}
	}
	return targets, nil
}
