package deliveries

import (
	"context"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// EraseUser implements lifecycle.Dependent: it removes automations, their run counts
// and the deliveries that wait for them.
func (s *Automations) EraseUser(ctx context.Context, user string, before int64, removed *erasure.Removed) error {
	items, err := s.automationItems(ctx, user)
	if err != nil {
		return err
	}
	doomed, err := s.orphans(ctx, user, items)
	if err != nil {
		return err
	}
	var gone []string
	for _, item := range items {
		if item.Created <= before {
			doomed = append(doomed, table.NewKey(item.PK, item.SK).Item(), startedKey(user, item.ID).Item())
			gone = append(gone, item.ID)
			removed.Automations++
		}
	}
	if err := s.base.DB.DeleteItems(ctx, doomed); err != nil {
		return err
	}
	return records.EachOf(ctx, gone, func(id string) error { return s.lanes.Forget(ctx, automation.Family(user, id)) })
}

// orphans returns the lists of runs of automations that no longer exist, which a run
// that was counted during a deletion leaves.
func (s *Automations) orphans(ctx context.Context, user string, existing []automationItem) ([]table.Item, error) {
	var found []table.Item
	err := s.base.DB.Pages(ctx, records.Partition(startedPK(user)), func(page []table.Item) (bool, error) {
		for _, item := range records.DecodeItems[startedItem](ctx, s.base, page) {
			if !slices.ContainsFunc(existing, func(a automationItem) bool { return a.ID == item.SK }) {
				found = append(found, table.NewKey(item.PK, item.SK).Item())
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the runs of automations: %w", err)
	}
	return found, nil
}
