package deliveries

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Webhooks stores webhooks in a table. It is safe for concurrent use.
type Webhooks struct {
	lifecycle.Nothing
	base  records.Base
	lanes *Lanes
}

var (
	_ receiver.Webhooks       = (*Webhooks)(nil)
	_ receiver.WebhookTargets = (*Webhooks)(nil)
	_ lifecycle.Dependent     = (*Webhooks)(nil)
)

// NewWebhooks returns the store of a table and of the lanes in it.
func NewWebhooks(base records.Base, lanes *Lanes) *Webhooks {
	return &Webhooks{base: base, lanes: lanes}
}

// CreateWebhook implements receiver.Webhooks.
func (s *Webhooks) CreateWebhook(ctx context.Context, w receiver.Webhook, secret receiver.Secret) (receiver.Webhook, error) {
	return records.ContendedValue(ctx, func() (receiver.Webhook, error) { return s.tryCreateWebhook(ctx, w, secret) })
}

// tryCreateWebhook puts a webhook and its secret, both or none; it returns
// table.ErrConditionFailed if the user's webhooks changed concurrently.
func (s *Webhooks) tryCreateWebhook(ctx context.Context, w receiver.Webhook, secret receiver.Secret) (receiver.Webhook, error) {
	now, found, err := s.webhooks(ctx, w.UserID)
	if err != nil {
		return receiver.Webhook{}, err
	}
	if entry, ok := now.Hooks[w.ID]; ok {
		return entry.webhook(w.UserID, w.ID), nil
	}
	if len(now.Hooks) >= receiver.MaxWebhooks {
		return receiver.Webhook{}, fault.New(fault.LimitReached, "a user has at most %d webhooks", receiver.MaxWebhooks)
	}
	k := secretKey(w.UserID, w.ID)
	return w, s.base.DB.Transact(ctx, addWebhook(w, found), table.Put(secretItem{
		PK: k.PK, SK: k.SK, Current: string(secret), Created: w.CreatedTime, Version: 1,
	}))
}

// addWebhook returns the write that adds a webhook to its user's item, which it
// creates if it does not exist.
func addWebhook(w receiver.Webhook, exists bool) table.Write {
	k, entry := webhooksKey(w.UserID), entryOf(w)
	if !exists {
		return table.Put(webhooksItem{PK: k.PK, SK: k.SK, Hooks: map[string]webhookEntry{w.ID: entry}},
			table.ItemNotExists())
	}
	all, one := table.Path{webhooksHooks}, hookPath(w.ID)
	return table.Update(k, []table.Change{table.Set(one, entry)},
		table.Exists(all), table.NotExists(one), table.SizeLess(all, receiver.MaxWebhooks))
}

// Webhook implements receiver.Webhooks.
func (s *Webhooks) Webhook(ctx context.Context, userID, id string) (receiver.Webhook, error) {
	item, _, err := s.webhooks(ctx, userID)
	if err != nil {
		return receiver.Webhook{}, err
	}
	entry, ok := item.Hooks[id]
	if !ok {
		return receiver.Webhook{}, missingWebhook()
	}
	return entry.webhook(userID, id), nil
}

// Webhooks implements receiver.Webhooks.
func (s *Webhooks) Webhooks(ctx context.Context, userID string) ([]receiver.Webhook, error) {
	item, err := s.shownWebhooks(ctx, userID)
	if err != nil {
		return nil, err
	}
	return item.all(userID), nil
}

// ChangeWebhook implements receiver.Webhooks.
func (s *Webhooks) ChangeWebhook(ctx context.Context, userID, id string, c receiver.WebhookChange) (receiver.Webhook, error) {
	return records.ContendedValue(ctx, func() (receiver.Webhook, error) {
		was, err := s.Webhook(ctx, userID, id)
		if err != nil {
			return receiver.Webhook{}, err
		}
		next, err := c.Apply(was, s.base.Millis())
		if err != nil {
			return receiver.Webhook{}, err
		}
		return next, s.base.DB.Update(ctx, webhooksKey(userID), []table.Change{table.Set(hookPath(id), entryOf(next))},
			table.Equal(hookPath(id, hookVersion), was.Version))
	})
}

// DeleteWebhook implements receiver.Webhooks. If the request dies partway, the next
// pass of the lane finds nothing to deliver, and the remaining records expire. The
// records are deleted last: a repeated erasure finds the lane by them.
func (s *Webhooks) DeleteWebhook(ctx context.Context, userID, id string) error {
	remove := table.Update(webhooksKey(userID), []table.Change{table.Remove(hookPath(id))}, table.Exists(hookPath(id)))
	exists := func() error {
		_, err := s.Webhook(ctx, userID, id)
		return err
	}
	target := receiver.Webhook{ID: id, UserID: userID}.Target()
	err := s.lanes.RemoveTarget(ctx, target, exists, remove, table.Delete(secretKey(userID, id)))
	if err != nil {
		return err
	}
	err = s.base.DB.DeleteFound(ctx, records.KeysOnly(records.Prefix(recordsPK(userID), recordPrefix(id), true)))
	if err != nil {
		return fmt.Errorf("remove the records of webhook %s: %w", id, err)
	}
	return nil
}

func missingWebhook() error { return fault.Missing("Webhook") }
