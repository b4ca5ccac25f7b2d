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

// Base is what each package of the store works with.
type Base struct {
	DB     *Table
	Now    func() time.Time
	Random func() uuid.UUID
	Log    *slog.Logger // of what a later request repairs, and of what cannot be read
}

// Millis is the time now in epoch milliseconds.
func (b Base) Millis() int64 { return b.Now().UnixMilli() }

// KeyOf is the key of an item; parts that it lacks are empty.
func KeyOf(item table.Item) table.Key {
	return table.NewKey(table.Text(item, table.PK), table.Text(item, table.SK))
}

type leftOutKey struct{}

// CountingLeftOut is a context that counts what LeftOut leaves out, for callers that
// must have all or say that they have not.
func CountingLeftOut(ctx context.Context) (context.Context, *atomic.Int64) {
	n := &atomic.Int64{}
	return context.WithValue(ctx, leftOutKey{}, n), n
}

// LeftOut notes that a list leaves out an item that cannot be read. The names of
// partitions may hold ids of users, which no log does; those of logs and sessions hold
// none.
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

// DecodeItems decodes the items that can be decoded, and leaves out the others.
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
