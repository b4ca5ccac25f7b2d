package stores

import (
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/domain/delivery"
)

var _ delivery.Targets = (*Store)(nil)

// Targets implements delivery.Targets: everybody who wants to hear of an event,
// whatever for. Where one kind of targets cannot be read, the others are returned
// with the error.
func (s *Store) Targets(ctx context.Context, e delivery.Event) ([]delivery.Target, error) {
	var all []delivery.Target
	var failures []error
	for _, find := range []func(context.Context, delivery.Event) ([]delivery.Target, error){
		s.PushStore.Targets, s.WebhookStore.Targets, s.AutomationStore.Targets,
	} {
		targets, err := find(ctx, e)
		all, failures = slices.Concat(all, targets), append(failures, err)
	}
	return all, errors.Join(failures...)
}
