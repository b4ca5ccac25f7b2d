package stores

import (
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
)

var _ delivery.Targets = (*Store)(nil)

// Targets implements delivery.Targets: it returns the targets of an event of all
// kinds. If one kind cannot be read, it returns the others with the error.
func (s *Store) Targets(ctx context.Context, e notification.Event) ([]delivery.Target, error) {
	var all []delivery.Target
	var failures []error
	for _, find := range []func(context.Context, notification.Event) ([]delivery.Target, error){
		s.Pushes.Targets, s.Webhooks.Targets, s.Automations.Targets,
	} {
		targets, err := find(ctx, e)
		all, failures = slices.Concat(all, targets), append(failures, err)
	}
	return all, errors.Join(failures...)
}
