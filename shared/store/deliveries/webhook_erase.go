package deliveries

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// EraseUser implements lifecycle.Dependent: it removes webhooks, their secrets and
// their delivery records.
func (s *Webhooks) EraseUser(ctx context.Context, user string, before int64, removed *erasure.Removed) error {
	all, err := s.Webhooks(ctx, user)
	if err != nil {
		return err
	}
	failure := records.EachOf(ctx, all, func(w receiver.Webhook) error {
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
	return errors.Join(failure, s.eraseLooseRecords(ctx, user, removed), s.eraseEmpty(ctx, user))
}

// eraseLooseRecords removes the records of deleted webhooks, which an attempt under
// way or an interrupted deletion may have left, and their lanes. It lists the
// records before it reads the webhooks, so that the records of a concurrently
// created webhook stay.
func (s *Webhooks) eraseLooseRecords(ctx context.Context, user string, removed *erasure.Removed) error {
	return s.base.DB.Pages(ctx, records.KeysOnly(records.Partition(recordsPK(user))), func(page []table.Item) (bool, error) {
		left, _, err := s.webhooks(ctx, user)
		if err != nil {
			return false, err
		}
		var loose []table.Item
		gone := map[string]bool{}
		for _, item := range page {
			id, _, _ := strings.Cut(table.Text(item, table.SK), "/")
			if _, exists := left.Hooks[id]; !exists {
				loose, gone[id] = append(loose, item), true
			}
		}
		for id := range gone {
			if err := s.lanes.Forget(ctx, receiver.Webhook{ID: id, UserID: user}.Target().Group()); err != nil {
				return false, err
			}
		}
		removed.Deliveries += len(loose)
		return true, s.base.DB.DeleteItems(ctx, loose)
	})
}

// eraseEmpty removes a user's webhooks item if it is empty.
func (s *Webhooks) eraseEmpty(ctx context.Context, user string) error {
	err := s.base.DB.Transact(ctx, table.Delete(webhooksKey(user),
		table.Or(table.ItemNotExists(), table.SizeLess(table.Path{webhooksHooks}, 1))))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil // webhooks were created since
	}
	return err
}
