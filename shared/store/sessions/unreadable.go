package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

func (s *Store) leftOut(ctx context.Context, k table.Key, err error) { s.Base().LeftOut(ctx, k, err) }

// decodeItems decodes items and leaves out those that cannot be decoded.
func decodeItems[T any](ctx context.Context, s *Store, items []table.Item) []T {
	return records.DecodeItems[T](ctx, s.Base(), items)
}
