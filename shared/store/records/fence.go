package records

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/store/table"
)

// Fence is what some of a request's writes depend on until they are carried out, wherever
// in the request they are made. Such a write is one transaction with the check, so that
// none lands after what is checked has ended.
type Fence struct {
	Check  table.Write
	Covers func(table.Write) bool // whether a write depends on the check
	Broken error                  // what such a write returns if the check does not hold
}

type fenceKey struct{}

// Fencing returns the context of a request, to which a fence may be added later.
func Fencing(ctx context.Context) context.Context {
	return context.WithValue(ctx, fenceKey{}, &atomic.Pointer[Fence]{})
}

// AddFence makes the later writes of a request depend on a fence, instead of an earlier one.
func AddFence(ctx context.Context, f Fence) {
	if of, ok := ctx.Value(fenceKey{}).(*atomic.Pointer[Fence]); ok {
		of.Store(&f)
	}
}

// fenceFor returns the fence that one of the writes depends on; nil if there is none.
func fenceFor(ctx context.Context, writes ...table.Write) *Fence {
	of, ok := ctx.Value(fenceKey{}).(*atomic.Pointer[Fence])
	if !ok {
		return nil
	}
	f := of.Load()
	for _, w := range writes {
		if f != nil && f.Covers(w) {
			return f
		}
	}
	return nil
}

// writeFenced is Write for a write that depends on a fence.
func (t *Table) writeFenced(ctx context.Context, w table.Write) error {
	return Exhausted(retry.Do(ctx, policy(), isConflict, func() error { return t.Transact(ctx, w) }))
}

// broken returns the fence's error if a transaction failed at the check, its last write.
func (f *Fence) broken(in table.Transaction, err error) error {
	var failed *table.ConditionError
	if f != nil && errors.As(err, &failed) && failed.Failures[len(failed.Failures)-1].Write == len(in.Writes)-1 {
		return f.Broken
	}
	return err
}
