package history

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Children reads which forks read a log.
func (s *Store) Children(ctx context.Context, log string) ([]Child, error) {
	var out []Child
	err := s.DB.Pages(ctx, records.Prefix(keys.LogPK(log), keys.PrefixChild, true), func(page []table.Item) (bool, error) {
		for _, item := range page {
			var c Child
			if err := table.Decode(item, &c); err != nil {
				return false, fmt.Errorf("unmarshal a fork: %w", err)
			}
			out = append(out, c)
		}
		return true, nil
	})
	return out, err
}
