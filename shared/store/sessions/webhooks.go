package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/webhook"
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

// CreateWebhook implements webhook.Store.
func (s *Store) CreateWebhook(ctx context.Context, w webhook.Webhook, secret webhook.Secret) (webhook.Webhook, error) {
	for try := 0; ; try++ {
		made, err := s.tryCreateWebhook(ctx, w, secret)
		if !errors.Is(err, errTaken) {
			return made, err
		}
		if err := afterConflict(ctx, try); err != nil {
			return webhook.Webhook{}, err
		}
	}
}

// tryCreateWebhook puts a webhook with its secret, both or none; errTaken where
// the user's webhooks changed meanwhile.
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
	first, err := s.addWebhook(w, found)
	if err != nil {
		return webhook.Webhook{}, err
	}
	k := webhookSecretKey(w.UserID, w.ID)
	second, err := s.transactPut(secretItem{
		PK: k.pk, SK: k.sk, Current: string(secret), Created: w.CreatedTime, Version: 1,
	}, condition{})
	if err != nil {
		return webhook.Webhook{}, err
	}
	return w, s.transact(ctx, first, second)
}

// addWebhook is the write that adds a webhook to those of its user, whom it makes
// the item for that they stand in unless it is there.
func (s *Store) addWebhook(w webhook.Webhook, there bool) (types.TransactWriteItem, error) {
	k, entry := webhooksKey(w.UserID), entryOf(w)
	if !there {
		return s.transactPut(webhooksItem{PK: k.pk, SK: k.sk, Hooks: map[string]webhookEntry{w.ID: entry}},
			condition{expression: ifAbsent})
	}
	value, err := attributevalue.Marshal(entry)
	if err != nil {
		return types.TransactWriteItem{}, fmt.Errorf("marshal a webhook: %w", err)
	}
	return s.transactUpdate(k, "SET #h.#id = :w", condition{
		expression: "attribute_exists(#h) AND attribute_not_exists(#h.#id) AND size(#h) < :most",
		names:      map[string]string{"#h": "h", "#id": w.ID},
		values:     attributes{":w": value, ":most": num(webhook.MaxWebhooks)},
	}), nil
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
	for try := 0; ; try++ {
		was, err := s.Webhook(ctx, userID, id)
		if err != nil {
			return webhook.Webhook{}, err
		}
		next, err := c.Apply(was, s.millis())
		if err != nil {
			return webhook.Webhook{}, err
		}
		value, err := attributevalue.Marshal(entryOf(next))
		if err != nil {
			return webhook.Webhook{}, fmt.Errorf("marshal a webhook: %w", err)
		}
		err = s.update(ctx, webhooksKey(userID), "SET #h.#id = :w", condition{
			expression: "#h.#id.#v = :v",
			names:      map[string]string{"#h": "h", "#id": id, "#v": "v"},
			values:     attributes{":w": value, ":v": num(was.Version)},
		})
		if !errors.Is(err, errTaken) {
			return next, err
		}
		if err := afterConflict(ctx, try); err != nil {
			return webhook.Webhook{}, err
		}
	}
}

// DisableWebhook implements webhook.Targets.
func (s *Store) DisableWebhook(ctx context.Context, d webhook.Disabling) error {
	c := condition{
		expression: "#h.#id.#st = :active AND #h.#id.#u = :u",
		names: map[string]string{
			"#h": "h", "#id": d.ID, "#st": "st", "#w": "w", "#u": "u", "#ut": "ut", "#v": "v",
		},
		values: attributes{
			":active": str(string(webhook.Active)), ":disabled": str(string(webhook.Disabled)),
			":w": str(string(d.Reason)), ":u": str(d.URL), ":now": num(s.millis()), ":one": num(1),
		},
	}
	if !d.UnchangedSince.IsZero() {
		c.expression += " AND #h.#id.#ut <= :since"
		c.values[":since"] = num(d.UnchangedSince.UnixMilli())
	}
	err := s.update(ctx, webhooksKey(d.UserID),
		"SET #h.#id.#st = :disabled, #h.#id.#w = :w, #h.#id.#ut = :now, #h.#id.#v = #h.#id.#v + :one", c)
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}

// DeleteWebhook implements webhook.Store. When a request dies in between, the next
// turn of its lane finds that there is nothing to bring of what waits there, and
// what is left of its records expires. The records go last: by them an erasure that
// is repeated finds the lane.
func (s *Store) DeleteWebhook(ctx context.Context, userID, id string) error {
	remove := s.transactUpdate(webhooksKey(userID), "REMOVE #h.#id", condition{
		expression: "attribute_exists(#h.#id)", names: map[string]string{"#h": "h", "#id": id},
	})
	there := func() error {
		_, err := s.Webhook(ctx, userID, id)
		return err
	}
	target := webhook.Webhook{ID: id, UserID: userID}.Target()
	err := s.removeTarget(ctx, target, there, remove, s.transactDelete(webhookSecretKey(userID, id), condition{}))
	if err != nil {
		return err
	}
	err = s.deleteQuery(ctx, s.keysOnly(s.prefixQuery(webhookRecordsPK(userID), webhookRecordPrefix(id), true)))
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
	found, err = s.get(ctx, webhooksKey(userID), &item)
	return item, found, err
}

// shownWebhooks is webhooks where one that cannot be read is left out.
func (s *Store) shownWebhooks(ctx context.Context, userID string) (webhooksItem, error) {
	item, _, err := s.webhooks(ctx, userID)
	if !errors.Is(err, ErrUnreadable) {
		return item, err
	}
	k := webhooksKey(userID)
	raw, readErr := s.getRaw(ctx, k)
	if readErr != nil || raw == nil {
		return webhooksItem{}, readErr
	}
	hooks, ok := raw["h"].(*types.AttributeValueMemberM)
	if !ok {
		s.leftOut(ctx, k, err)
		return webhooksItem{}, nil
	}
	item = webhooksItem{Hooks: map[string]webhookEntry{}}
	for id, value := range hooks.Value {
		var entry webhookEntry
		if err := attributevalue.Unmarshal(value, &entry); err != nil {
			s.leftOut(ctx, k, err)
			continue
		}
		item.Hooks[id] = entry
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
