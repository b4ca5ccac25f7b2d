package sessions

import (
	"context"
	"strings"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// ClearLog removes everything in a log's partition except the record of the pending
// removal.
func (s *Store) ClearLog(ctx context.Context, log string) error {
	return s.ClearExcept(ctx, log, func(table.Item) bool { return false })
}

// ClearExcept removes everything in a log's partition except the record of the
// pending removal and what keep selects.
func (s *Store) ClearExcept(ctx context.Context, log string, keep func(table.Item) bool) error {
	q := KeysOnly(records.Partition(keys.LogPK(log)))
	return s.DB.Pages(ctx, q, func(page []table.Item) (bool, error) {
		var doomed []table.Item
		for _, item := range page {
			sk := table.Text(item, table.SK)
			if sk == keys.SkDeleted || keep(item) {
				continue
			}
			if feedback, ok := strings.CutPrefix(sk, keys.PrefixFeedback); ok {
				owner := table.Text(item, keys.AttrOwner)
				_, id, _ := strings.Cut(feedback, "#")
				doomed = append(doomed,
					table.NewKey(keys.FeedbackPK(owner), feedback).Item(), keys.FeedbackTimeKey(owner, id).Item())
			}
			if task, ok := strings.CutPrefix(sk, keys.PrefixLink); ok {
				doomed = append(doomed, keys.LinkKey(table.Text(item, keys.AttrOwner), task).Item())
				if guest := table.Text(item, keys.AttrGuest); guest != "" {
					doomed = append(doomed, keys.LinkKey(guest, task).Item())
				}
			}
			doomed = append(doomed, item)
		}
		return true, s.DB.DeleteItems(ctx, doomed)
	})
}
