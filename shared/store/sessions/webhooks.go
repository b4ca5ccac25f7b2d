package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/webhook"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

var (
	_ webhook.Store   = (*Store)(nil)
	_ webhook.Targets = (*Store)(nil)
)

// webhooksItem is all webhooks of a user, so that to find who wants to hear of an
// event takes one read unit, and their number is bounded by one condition. Their
// secrets have a partition of their own.
type webhooksItem struct {
	PK    string                  `dynamodbav:"PK"`
	SK    string                  `dynamodbav:"SK"`
	Hooks map[string]webhookEntry `dynamodbav:"h"`
}

type webhookEntry struct {
	URL         string   `dynamodbav:"u"`
	Description string   `dynamodbav:"d,omitempty"`
	Types       []string `dynamodbav:"t,omitempty"`
	Agents      []string `dynamodbav:"a,omitempty"`
	Sessions    []string `dynamodbav:"s,omitempty"`
	Status      string   `dynamodbav:"st"`
	Reason      string   `dynamodbav:"w,omitempty"`
	Created     int64    `dynamodbav:"ct"`
	Updated     int64    `dynamodbav:"ut"`
	Since       int64    `dynamodbav:"si"`
	Version     int64    `dynamodbav:"v"`
}

const (
	webhooksHooks = "h"

	hookURL     = "u" // these are of an entry
	hookStatus  = "st"
	hookReason  = "w"
	hookUpdated = "ut"
	hookVersion = "v"
)

// hookPath leads to a webhook among those of its user, or to a member of it.
func hookPath(id string, member ...string) table.Path {
	return append(table.At(webhooksHooks, id), member...)
}

// CreateWebhook implements webhook.Store.
func (s *Store) CreateWebhook(ctx context.Context, w webhook.Webhook, secret webhook.Secret) (webhook.Webhook, error) {
	return records.ContendedValue(ctx, func() (webhook.Webhook, error) { return s.tryCreateWebhook(ctx, w, secret) })
}

// tryCreateWebhook puts a webhook with its secret, both or none;
// table.ErrConditionFailed where the user's webhooks changed meanwhile.
func (s *Store) tryCreateWebhook(ctx context.Context, w webhook.Webhook, secret webhook.Secret) (webhook.Webhook, error) {
	now, found, err := s.webhooks(ctx, w.UserID)
	if err != nil {
		return webhook.Webhook{}, err
	}
	if entry, ok := now.Hooks[w.ID]; ok {
		return entry.webhook(w.UserID, w.ID), nil
	}
	if len(now.Hooks) >= webhook.MaxWebhooks {
		return webhook.Webhook{}, fault.New(fault.Conflict, "a user has at most %d webhooks", webhook.MaxWebhooks)
	}
	k := webhookSecretKey(w.UserID, w.ID)
	return w, s.db.Transact(ctx, addWebhook(w, found), table.Put(secretItem{
		PK: k.PK, SK: k.SK, Current: string(secret), Created: w.CreatedTime, Version: 1,
	}))
}

// addWebhook is the write that adds a webhook to those of its user, whom it makes
// the item for that they stand in unless it is there.
func addWebhook(w webhook.Webhook, there bool) table.Write {
	k, entry := webhooksKey(w.UserID), entryOf(w)
	if !there {
		return table.Put(webhooksItem{PK: k.PK, SK: k.SK, Hooks: map[string]webhookEntry{w.ID: entry}},
			table.ItemNotExists())
	}
	all, one := table.At(webhooksHooks), hookPath(w.ID)
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
		return webhook.Webhook{}, missingWebhook()
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
		next, err := c.Apply(was, s.millis())
		if err != nil {
			return webhook.Webhook{}, err
		}
		return next, s.db.Update(ctx, webhooksKey(userID), []table.Change{table.Set(hookPath(id), entryOf(next))},
			table.Equal(hookPath(id, hookVersion), was.Version))
	})
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
	err := s.db.Update(ctx, webhooksKey(d.UserID), []table.Change{
		table.Set(hookPath(d.ID, hookStatus), string(webhook.Disabled)),
		table.Set(hookPath(d.ID, hookReason), string(d.Reason)),
		table.Set(hookPath(d.ID, hookUpdated), s.millis()),
		table.Add(hookPath(d.ID, hookVersion), 1),
	}, conditions...)
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}

// DeleteWebhook implements webhook.Store. When a request dies in between, the next
// turn of its lane finds that there is nothing to bring of what waits there, and
// what is left of its records expires. The records go last: by them an erasure that
// is repeated finds the lane.
func (s *Store) DeleteWebhook(ctx context.Context, userID, id string) error {
	remove := table.Update(webhooksKey(userID), []table.Change{table.Remove(hookPath(id))}, table.Exists(hookPath(id)))
	there := func() error {
		_, err := s.Webhook(ctx, userID, id)
		return err
	}
	target := webhook.Webhook{ID: id, UserID: userID}.Target()
	err := s.removeTarget(ctx, target, there, remove, table.Delete(webhookSecretKey(userID, id)))
	if err != nil {
		return err
	}
	err = s.db.DeleteFound(ctx, keysOnly(records.Prefix(webhookRecordsPK(userID), webhookRecordPrefix(id), true)))
	if err != nil {
		return fmt.Errorf("remove the records of webhook %s: %w", id, err)
	}
	return nil
}

// webhookTargets are the webhooks that an event's owner wants it told to. It
// takes one read unit for webhooks of up to 4 KB, and none for what none is told.
func (s *Store) webhookTargets(ctx context.Context, e delivery.Event) ([]delivery.Target, error) {
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

func (s *Store) webhooks(ctx context.Context, userID string) (item webhooksItem, found bool, err error) {
	found, err = s.db.Get(ctx, webhooksKey(userID), &item)
	return item, found, err
}

// shownWebhooks is webhooks where one that cannot be read is left out.
func (s *Store) shownWebhooks(ctx context.Context, userID string) (webhooksItem, error) {
	item, _, err := s.webhooks(ctx, userID)
	if !errors.Is(err, table.ErrUnreadable) {
		return item, err
	}
	k := webhooksKey(userID)
	raw, readErr := s.db.GetItem(ctx, k)
	if readErr != nil || raw == nil {
		return webhooksItem{}, readErr
	}
	hooks, ok := raw[webhooksHooks].(*types.AttributeValueMemberM)
	if !ok {
		s.leftOut(ctx, k, err)
		return webhooksItem{}, nil
	}
	item = webhooksItem{Hooks: map[string]webhookEntry{}}
	for id, value := range hooks.Value {
		var one webhooksItem
		only := &types.AttributeValueMemberM{Value: table.Item{id: value}}
		if err := table.Decode(table.Item{webhooksHooks: only}, &one); err != nil {
			s.leftOut(ctx, k, err)
			continue
		}
		item.Hooks[id] = one.Hooks[id]
	}
	return item, nil
}

func (i *webhooksItem) all(userID string) []webhook.Webhook {
	out := make([]webhook.Webhook, 0, len(i.Hooks))
	for id, entry := range i.Hooks {
		out = append(out, entry.webhook(userID, id))
	}
	slices.SortFunc(out, func(a, b webhook.Webhook) int {
		return cmp.Or(cmp.Compare(a.CreatedTime, b.CreatedTime), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func entryOf(w webhook.Webhook) webhookEntry {
	return webhookEntry{
		URL: w.URL, Description: w.Description, Types: w.Types, Agents: w.Agents, Sessions: w.SessionIDs,
		Status: string(w.Status), Reason: string(w.DisabledReason),
		Created: w.CreatedTime, Updated: w.UpdatedTime, Since: w.Since, Version: w.Version,
	}
}

func (e webhookEntry) webhook(userID, id string) webhook.Webhook {
	return webhook.Webhook{
		ID: id, UserID: userID, URL: e.URL, Description: e.Description,
		Types: e.Types, Agents: e.Agents, SessionIDs: e.Sessions,
		Status: webhook.Status(e.Status), DisabledReason: webhook.Reason(e.Reason),
		CreatedTime: e.Created, UpdatedTime: e.Updated, Since: e.Since, Version: e.Version,
	}
}

func missingWebhook() error { return fault.Missing("Webhook") }
