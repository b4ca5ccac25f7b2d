package deliveries

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/table"
)

// Targets returns the webhooks of an event's owner that subscribe to the event. It
// takes one read unit for up to 4 KB of webhooks, and none for an event type that
// is never sent.
func (s *Webhooks) Targets(ctx context.Context, e notification.Event) ([]delivery.Target, error) {
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

// DisableWebhook implements receiver.WebhookTargets.
func (s *Webhooks) DisableWebhook(ctx context.Context, d receiver.Disabling) error {
	conditions := []table.Condition{
		table.Equal(hookPath(d.ID, hookStatus), string(receiver.Active)),
		table.Equal(hookPath(d.ID, hookURL), d.URL),
	}
	if !d.UnchangedSince.IsZero() {
		conditions = append(conditions, table.AtMost(hookPath(d.ID, hookUpdated), d.UnchangedSince.UnixMilli()))
	}
	err := s.base.DB.Update(ctx, webhooksKey(d.UserID), []table.Change{
		table.Set(hookPath(d.ID, hookStatus), string(receiver.Disabled)),
		table.Set(hookPath(d.ID, hookReason), string(d.Reason)),
		table.Set(hookPath(d.ID, hookUpdated), s.base.Millis()),
		table.Add(hookPath(d.ID, hookVersion), 1),
	}, conditions...)
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}
