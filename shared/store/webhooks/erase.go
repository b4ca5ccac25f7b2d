package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/domain/webhook"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// EraseUser implements sessions.Dependent: webhooks go with their secrets, and with
// what became of their deliveries.
func (s *Store) EraseUser(ctx context.Context, user string, before int64, removed *erasure.Removed) error {
	all, err := s.Webhooks(ctx, user)
	if err != nil {
		return err
	}
	failure := records.EachOf(ctx, all, func(w webhook.Webhook) error {
		if w.CreatedTime > before {
			return nil
		}
		n, err := s.base.DB.Count(ctx, recordsPK(user), recordPrefix(w.ID))
		if err != nil {
			return err
		}
		if err := s.DeleteWebhook(ctx, user, w.ID); err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
			return fmt.Errorf("erase webhook %s: %w", w.ID, err)
		}
		removed.Webhooks++
		removed.Deliveries += n
		return nil
	})
	return errors.Join(failure, s.eraseLooseRecords(ctx, user, removed), s.eraseNoWebhooks(ctx, user))
}

// eraseLooseRecords removes the records of webhooks that are gone: of a try that
// was under way, for example, or of a deletion that was cut short, whose lanes go
// too. Records are found before webhooks are read, so that those of one that is made
// meanwhile stay.
func (s *Store) eraseLooseRecords(ctx context.Context, user string, removed *erasure.Removed) error {
	return s.base.DB.Pages(ctx, records.KeysOnly(records.Partition(recordsPK(user))), func(page []table.Item) (bool, error) {
		left, _, err := s.webhooks(ctx, user)
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
			if err := s.lanes.Forget(ctx, webhook.Webhook{ID: id, UserID: user}.Target().Group()); err != nil {
				return false, err
			}
		}
		removed.Deliveries += len(loose)
		return true, s.base.DB.DeleteItems(ctx, loose)
	})
}

// eraseNoWebhooks removes the item that webhooks stand in, where none is left.
func (s *Store) eraseNoWebhooks(ctx context.Context, user string) error {
	err := s.base.DB.Transact(ctx, table.Delete(webhooksKey(user),
		table.Or(table.ItemNotExists(), table.SizeLess(table.At(webhooksHooks), 1))))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil // some were made since
	}
	return err
}
