package stores_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// A table that refuses one request of a flush, whichever it is, makes the flush neither
// lose deltas nor store some twice: the caller flushes what is not stored.
func TestItems_when_one_request_of_a_flush_is_refused(t *testing.T) {
	t.Parallel()
	const never = -1
	var left atomic.Int64 // calls until one is refused
	left.Store(never)
	s := before(storetest.Engine(t), func(context.Context, hooks.Call) error {
		if left.Load() != never && left.Add(-1) == never {
			return table.ErrThrottled
		}
		return nil
	})
	refusedOnes := 0
	for n := int64(0); ; n++ {
		id := fmt.Sprintf("s%d", n)
		mustCreate(t, s, alice, id, nil)
		mustStart(t, s, startOf(t, id, "r1", "go"))
		it := mustBegin(t, s, refOf(id, "r1"), "mine")
		mustFlush(t, it, "begun ")
		text := strings.Repeat("0123456789", 4500) // several segments
		left.Store(n)
		rest, err := it.Flush(t.Context(), []content.Delta{{Text: text}})
		refused := left.Swap(never) == never
		if err != nil {
			wantKind(t, err, fault.Busy)
			if rest, err = it.Flush(t.Context(), rest); err != nil {
				t.Fatalf("flush the rest: %v", err)
			}
		}
		if len(rest) > 0 {
			t.Errorf("%d deltas were not stored", len(rest))
		}
		mustEnd(t, s, refOf(id, "r1"), run.Completed, nil)
		want := "2:begun " + text
		if got := texts(mustThread(t, s, id).Items)[1]; got != want {
			t.Errorf("refused request %d: got %d bytes, want %d", n, len(got), len(want))
		}
		if !refused {
			break
		}
		refusedOnes++
	}
	const least = 4 // segments, and the looks after new ones
	if refusedOnes < least {
		t.Errorf("%d requests were refused, want %d", refusedOnes, least)
	}
}
