package stores_test

import (
	"context"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// TestPushes_cost bounds what an external agent's pushes to one process cost: without an
// offset as much as with it, however long the answer is. It is measured in memory, since a
// thousand pushes take minutes on DynamoDB Local.
func TestPushes_cost(t *testing.T) {
	t.Parallel()
	// The clock stands still, since a run's lease is renewed after a time.
	standing := stores.WithClock(func() time.Time { return time.UnixMilli(1_700_000_000_000) })
	for _, n := range []int{10, 100, 1000} {
		measure := func(push func(ctx context.Context, s *stores.Store, ref run.Ref, offset int64) error) capacity.Usage {
			t.Helper()
			meter := &capacity.Meter{}
			s := stores.New(meter.Around(memory.New(store.Schema())), stores.WithCodec(storetest.Codec()), standing)
			mustCreate(t, s, alice, "s", nil)
			start := run.Start{Ref: refOf("s", "r"), Mode: run.External, Input: []session.Event{event(t, "", "r", "question")}}
			mustStart(t, s, start)
			before := meter.Total()
			for offset := range int64(n) {
				if err := push(t.Context(), s, start.Ref, offset); err != nil {
					t.Fatal(err)
				}
			}
			return meter.Total().Sub(before)
		}
		with := measure(pushDelta)
		without := measure(func(ctx context.Context, s *stores.Store, ref run.Ref, _ int64) error {
			return pushAnywhere(ctx, s, ref)
		})
		if without != with {
			t.Errorf("%d pushes take %+v, with offsets %+v", n, without, with)
		}
		if most := float64(n); with.Reads > 0.7*most+10 || with.Writes > 1.05*most+10 {
			t.Errorf("%d pushes take %+v", n, with)
		}
	}
}
