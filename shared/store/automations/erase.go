package automations

import (
	"context"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// EraseUser implements sessions.Dependent: it removes automations, their run counts
// and the deliveries that wait for them.
func (s *Store) EraseUser(ctx context.Context, user string, before int64, removed *erasure.Removed) error {
	items, err := s.automationItems(ctx, user)
	if err != nil {
		return err
	}
	var doomed []table.Item
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
