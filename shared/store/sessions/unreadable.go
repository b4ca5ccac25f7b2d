package sessions

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/table"
)

type leftOutKey struct{}

// countingLeftOut is a context in which it is counted what is left out, for who
// must have all or say that it is not.
func countingLeftOut(ctx context.Context) (context.Context, *atomic.Int64) {
	n := &atomic.Int64{}
	return context.WithValue(ctx, leftOutKey{}, n), n
}

// leftOut notes an item that a list leaves out. The names of partitions may hold
// ids of users, which no log does.
func (s *Store) leftOut(ctx context.Context, k table.Key, err error) {
	partition := slog.String("partition", k.PK)
	if !strings.HasPrefix(k.PK, prefixLog) && !strings.HasPrefix(k.PK, prefixSession) {
		partition = logs.Person("partition", k.PK)
		k.SK, _, _ = strings.Cut(k.SK, "#")
	}
	metrics.Count(ctx, metrics.ItemsSkipped, 1)
	if n, ok := ctx.Value(leftOutKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
	s.log.ErrorContext(ctx, "an item cannot be read and is left out", partition, slog.String("item", k.SK), slog.Any("error", err))
}

func keyOf(item table.Item) table.Key {
	return table.NewKey(table.Text(item, attrPK), table.Text(item, attrSK))
}

// decodeItems decodes the items that can be decoded.
func decodeItems[T any](ctx context.Context, s *Store, items []table.Item) []T {
	out := make([]T, 0, len(items))
	for _, item := range items {
		var one T
		if err := table.Decode(item, &one); err != nil {
			s.leftOut(ctx, keyOf(item), err)
			continue
		}
		out = append(out, one)
	}
	return out
}
