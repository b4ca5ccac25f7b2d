package deliveries

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/table"
)

// webhooksItem holds all webhooks of a user, so that finding those for an event
// takes one read unit and one condition limits their number. Their secrets are in a
// separate partition.
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

	hookURL     = "u" // these belong to an entry
	hookStatus  = "st"
	hookReason  = "w"
	hookUpdated = "ut"
	hookVersion = "v"
)

// hookPath is the path of a webhook in its user's item, or of a member of it.
func hookPath(id string, member ...string) table.Path {
	return append(table.Path{webhooksHooks, id}, member...)
}

func (s *Webhooks) webhooks(ctx context.Context, userID string) (item webhooksItem, found bool, err error) {
	found, err = s.base.DB.Get(ctx, webhooksKey(userID), &item)
	return item, found, err
}

// shownWebhooks reads webhooks and leaves out those that cannot be read.
func (s *Webhooks) shownWebhooks(ctx context.Context, userID string) (webhooksItem, error) {
	item, _, err := s.webhooks(ctx, userID)
	if !errors.Is(err, table.ErrUnreadable) {
		return item, err
	}
	k := webhooksKey(userID)
	raw, readErr := s.base.DB.GetItem(ctx, k)
	if readErr != nil || raw == nil {
		return webhooksItem{}, readErr
	}
	hooks, ok := raw[webhooksHooks].(*types.AttributeValueMemberM)
	if !ok {
		s.base.LeftOut(ctx, k, err)
		return webhooksItem{}, nil
	}
	item = webhooksItem{Hooks: map[string]webhookEntry{}}
	for id, value := range hooks.Value {
		var one webhooksItem
		only := &types.AttributeValueMemberM{Value: table.Item{id: value}}
		if err := table.Decode(table.Item{webhooksHooks: only}, &one); err != nil {
			s.base.LeftOut(ctx, k, err)
			continue
		}
		item.Hooks[id] = one.Hooks[id]
	}
	return item, nil
}

func (i *webhooksItem) all(userID string) []receiver.Webhook {
	out := make([]receiver.Webhook, 0, len(i.Hooks))
	for id, entry := range i.Hooks {
		out = append(out, entry.webhook(userID, id))
	}
	slices.SortFunc(out, func(a, b receiver.Webhook) int {
		return cmp.Or(cmp.Compare(a.CreatedTime, b.CreatedTime), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func entryOf(w receiver.Webhook) webhookEntry {
	return webhookEntry{
		URL: w.URL, Description: w.Description, Types: w.Types, Agents: w.Agents, Sessions: w.SessionIDs,
		Status: string(w.Status), Reason: string(w.DisabledReason),
		Created: w.CreatedTime, Updated: w.UpdatedTime, Since: w.Since, Version: w.Version,
	}
}

func (e webhookEntry) webhook(userID, id string) receiver.Webhook {
	return receiver.Webhook{
		ID: id, UserID: userID, URL: e.URL, Description: e.Description,
		Types: e.Types, Agents: e.Agents, SessionIDs: e.Sessions,
		Status: receiver.Status(e.Status), DisabledReason: receiver.Reason(e.Reason),
		CreatedTime: e.Created, UpdatedTime: e.Updated, Since: e.Since, Version: e.Version,
	}
}
