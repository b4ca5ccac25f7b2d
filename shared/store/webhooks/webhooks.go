// Package webhooks stores the webhooks of users, their secrets and their delivery
// records.
package webhooks

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/webhook"
	"github.com/rethread/rethread/shared/store/lanes"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Store stores webhooks in a table. It is safe for concurrent use.
type Store struct {
	lifecycle.Nothing
	base  records.Base
	lanes *lanes.Store
}

var (
	_ webhook.Store       = (*Store)(nil)
	_ webhook.Targets     = (*Store)(nil)
	_ lifecycle.Dependent = (*Store)(nil)
)

// New returns the store of a table and of the lanes in it.
func New(base records.Base, lanes *lanes.Store) *Store { return &Store{base: base, lanes: lanes} }

// CreateWebhook implements webhook.Store.
func (s *Store) CreateWebhook(ctx context.Context, w webhook.Webhook, secret webhook.Secret) (webhook.Webhook, error) {
	return records.ContendedValue(ctx, func() (webhook.Webhook, error) { return s.tryCreateWebhook(ctx, w, secret) })
}

// tryCreateWebhook puts a webhook and its secret, both or none; it returns
// table.ErrConditionFailed if the user's webhooks changed concurrently.
func (s *Store) tryCreateWebhook(ctx context.Context, w webhook.Webhook, secret webhook.Secret) (webhook.Webhook, error) {
	now, found, err := s.webhooks(ctx, w.UserID)
	if err != nil {
		return webhook.Webhook{}, err
	}
	if entry, ok := now.Hooks[w.ID]; ok {
		return entry.webhook(w.UserID, w.ID), nil
	}
	if len(now.Hooks) >= webhook.MaxWebhooks {
		return webhook.Webhook{}, fault.New(fault.LimitReached, "a user has at most %d webhooks", webhook.MaxWebhooks)
	}
	k := secretKey(w.UserID, w.ID)
	return w, s.base.DB.Transact(ctx, addWebhook(w, found), table.Put(secretItem{
		PK: k.PK, SK: k.SK, Current: string(secret), Created: w.CreatedTime, Version: 1,
	}))
}

// addWebhook returns the write that adds a webhook to its user's item, which it
// creates if it does not exist.
func addWebhook(w webhook.Webhook, exists bool) table.Write {
	k, entry := webhooksKey(w.UserID), entryOf(w)
	if !exists {
		return table.Put(webhooksItem{PK: k.PK, SK: k.SK, Hooks: map[string]webhookEntry{w.ID: entry}},
			table.ItemNotExists())
	}
	all, one := table.Path{webhooksHooks}, hookPath(w.ID)
	return table.Update(k, []table.Change{table.Set(one, entry)},
		table.Exists(all), table.NotExists(one), table.SizeLess(all, webhook.MaxWebhooks))
}

// Webhook implements webhook.Store.
func (s *Store) Webhook(ctx context.Context, userID, id string) (webhook.Webhook, error) {
	item, _, err := s.webhooks(ctx, userID)
	if err != nil {
		return webhook.Webhook{}, err
	}
	entry, ok := item.Hooks[id]
	if !ok {
		return webhook.Webhook{}, missing()
	}
	return entry.webhook(userID, id), nil
}

// Webhooks implements webhook.Store.
func (s *Store) Webhooks(ctx context.Context, userID string) ([]webhook.Webhook, error) {
	item, err := s.shownWebhooks(ctx, userID)
	if err != nil {
		return nil, err
	}
	return item.all(userID), nil
}

// ChangeWebhook implements webhook.Store.
func (s *Store) ChangeWebhook(ctx context.Context, userID, id string, c webhook.Change) (webhook.Webhook, error) {
	return records.ContendedValue(ctx, func() (webhook.Webhook, error) {
		was, err := s.Webhook(ctx, userID, id)
		if err != nil {
			return webhook.Webhook{}, err
		}
		next, err := c.Apply(was, s.base.Millis())
		if err != nil {
			return webhook.Webhook{}, err
		}
		return next, s.base.DB.Update(ctx, webhooksKey(userID), []table.Change{table.Set(hookPath(id), entryOf(next))},
			table.Equal(hookPath(id, hookVersion), was.Version))
	})
}

// DeleteWebhook implements webhook.Store. If the request dies partway, the next
// pass of the lane finds nothing to deliver, and the remaining records expire. The
// records are deleted last: a repeated erasure finds the lane by them.
func (s *Store) DeleteWebhook(ctx context.Context, userID, id string) error {
	remove := table.Update(webhooksKey(userID), []table.Change{table.Remove(hookPath(id))}, table.Exists(hookPath(id)))
	exists := func() error {
		_, err := s.Webhook(ctx, userID, id)
		return err
	}
	target := webhook.Webhook{ID: id, UserID: userID}.Target()
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

func missing() error { return fault.Missing("Webhook") }
