package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/webhook"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// eraseWebhooks removes the webhooks that a user had when the erasure began, with
// their secrets, and what became of their deliveries.
func (s *Store) eraseWebhooks(ctx context.Context, e *erasureItem) error {
	all, err := s.Webhooks(ctx, e.User)
	if err != nil {
		return err
	}
	failure := records.EachOf(ctx, all, func(w webhook.Webhook) error {
		if w.CreatedTime > e.Started {
			return nil
		}
		n, err := s.db.Count(ctx, webhookRecordsPK(e.User), webhookRecordPrefix(w.ID))
		if err != nil {
			return err
		}
		if err := s.DeleteWebhook(ctx, e.User, w.ID); err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
			return fmt.Errorf("erase webhook %s: %w", w.ID, err)
		}
		e.Removed.Webhooks++
		e.Removed.Deliveries += n
		return nil
	})
	return errors.Join(failure, s.eraseLooseRecords(ctx, e), s.eraseNoWebhooks(ctx, e.User))
}

// eraseLooseRecords removes the records of webhooks that are gone: of a try that
// was under way, for example, or of a deletion that was cut short, whose lanes go
// too. Records are found before webhooks are read, so that those of one that is made
// meanwhile stay.
func (s *Store) eraseLooseRecords(ctx context.Context, e *erasureItem) error {
	return s.db.Pages(ctx, keysOnly(records.Partition(webhookRecordsPK(e.User))), func(page []table.Item) (bool, error) {
		left, _, err := s.webhooks(ctx, e.User)
		if err != nil {
			return false, err
		}
		var loose []table.Item
		gone := map[string]bool{}
		for _, item := range page {
			id, _, _ := strings.Cut(table.Text(item, table.SK), "/")
			if _, there := left.Hooks[id]; !there {
				loose, gone[id] = append(loose, item), true
			}
		}
		for id := range gone {
			if err := s.forgetLanes(ctx, webhook.Webhook{ID: id, UserID: e.User}.Target().Group()); err != nil {
				return false, err
			}
		}
		e.Removed.Deliveries += len(loose)
		return true, s.db.DeleteItems(ctx, loose)
	})
}

// eraseNoWebhooks removes the item that webhooks stand in, where none is left.
func (s *Store) eraseNoWebhooks(ctx context.Context, user string) error {
	err := s.db.Transact(ctx, table.Delete(webhooksKey(user),
		table.Or(table.ItemNotExists(), table.SizeLess(table.At(webhooksHooks), 1))))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil // some were made since
	}
	return err
}
