package records

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/table"
)

// Base is the dependencies shared by the packages of the store.
type Base struct {
	DB     *Table
	Now    func() time.Time
	Random func() uuid.UUID
	Log    *slog.Logger // for repairs left to a later request, and for unreadable items
}

// Millis returns the current time in epoch milliseconds.
func (b Base) Millis() int64 { return b.Now().UnixMilli() }

// KeyOf returns the key of an item; a missing part is empty.
func KeyOf(item table.Item) table.Key {
	return table.NewKey(table.Text(item, table.PK), table.Text(item, table.SK))
}

type leftOutKey struct{}

// CountingLeftOut returns a context that counts the items that LeftOut reports, for
// callers that need every item or must report that some are missing.
func CountingLeftOut(ctx context.Context) (context.Context, *atomic.Int64) {
	n := &atomic.Int64{}
	return context.WithValue(ctx, leftOutKey{}, n), n
}

// LeftOut logs that a list leaves out an unreadable item. It logs the partition
// only of logs and sessions: other partition keys may contain user ids, which are
// never logged.
func (b Base) LeftOut(ctx context.Context, k table.Key, err error) {
	partition := slog.String("partition", k.PK)
	if !strings.HasPrefix(k.PK, "L#") && !strings.HasPrefix(k.PK, "S#") {
		partition = logs.Person("partition", k.PK)
		k.SK, _, _ = strings.Cut(k.SK, "#")
	}
	metrics.Count(ctx, metrics.ItemsSkipped, 1)
	if n, ok := ctx.Value(leftOutKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
	b.Log.ErrorContext(ctx, "an item cannot be read and is left out", partition, slog.String("item", k.SK), slog.Any("error", err))
}

// DecodeItems decodes items and leaves out those that cannot be decoded.
func DecodeItems[T any](ctx context.Context, b Base, items []table.Item) []T {
	out := make([]T, 0, len(items))
	for _, item := range items {
		var one T
		if err := table.Decode(item, &one); err != nil {
			b.LeftOut(ctx, KeyOf(item), err)
			continue
		}
		out = append(out, one)
	}
	return out
}
