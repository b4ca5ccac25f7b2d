package webhooks

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/webhook"
	"github.com/rethread/rethread/shared/store/table"
)

// Targets returns the webhooks of an event's owner that subscribe to the event. It
// takes one read unit for up to 4 KB of webhooks, and none for an event type that
// is never sent.
func (s *Store) Targets(ctx context.Context, e delivery.Event) ([]delivery.Target, error) {
	if e.UserID == "" || !e.Type.Public() {
		return nil, nil
	}
	all, err := s.Webhooks(ctx, e.UserID)
	if err != nil {
		return nil, err
	}
	var targets []delivery.Target
	for _, w := range all {
		if w.Wants(e) {
			targets = append(targets, w.Target())
		}
	}
	return targets, nil
}

// DisableWebhook implements webhook.Targets.
func (s *Store) DisableWebhook(ctx context.Context, d webhook.Disabling) error {
	conditions := []table.Condition{
		table.Equal(hookPath(d.ID, hookStatus), string(webhook.Active)),
		table.Equal(hookPath(d.ID, hookURL), d.URL),
	}
	if !d.UnchangedSince.IsZero() {
		conditions = append(conditions, table.AtMost(hookPath(d.ID, hookUpdated), d.UnchangedSince.UnixMilli()))
	}
	err := s.base.DB.Update(ctx, webhooksKey(d.UserID), []table.Change{
		table.Set(hookPath(d.ID, hookStatus), string(webhook.Disabled)),
		table.Set(hookPath(d.ID, hookReason), string(d.Reason)),
		table.Set(hookPath(d.ID, hookUpdated), s.base.Millis()),
		table.Add(hookPath(d.ID, hookVersion), 1),
	}, conditions...)
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}
