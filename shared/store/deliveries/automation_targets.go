package deliveries

import (
	"context"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
)

// Targets returns the automations of a user that act on an event.
func (s *Automations) Targets(ctx context.Context, e notification.Event) ([]delivery.Target, error) {
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
