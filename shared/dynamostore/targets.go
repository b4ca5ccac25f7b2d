package dynamostore

import (
	"context"
	"slices"

	"github.com/rethread/rethread/shared/delivery"
)

var _ delivery.Targets = (*Store)(nil)

// Targets implements delivery.Targets: everybody who wants to hear of an event,
// whatever for.
func (s *Store) Targets(ctx context.Context, e delivery.Event) ([]delivery.Target, error) {
	var all []delivery.Target
	for _, find := range []func(context.Context, delivery.Event) ([]delivery.Target, error){
		s.pushTargets, s.webhookTargets, s.automationTargets,
	} {
		targets, err := find(ctx, e)
		if err != nil {
			return nil, err
		}
		all = slices.Concat(all, targets)
	}
	return all, nil
}
