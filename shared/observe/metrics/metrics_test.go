package metrics_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/observe/metrics"
)

func TestRecorder(t *testing.T) {
	t.Parallel()
	t.Run("adds counts and keeps each duration", func(t *testing.T) {
		t.Parallel()
		ctx, r := metrics.With(t.Context())
		var running sync.WaitGroup
		for range 10 {
			running.Go(func() { metrics.Count(ctx, metrics.FramesPushed, 1.5) })
		}
		running.Wait()
		metrics.Took(ctx, metrics.PushDelay, 3*time.Millisecond)
		metrics.Took(ctx, metrics.PushDelay, -time.Second) // after the clock was set back
		want := metrics.Values{metrics.FramesPushed: {15}, metrics.PushDelay: {3, 0}}
		if diff := cmp.Diff(want, r.Values()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("merges values of several invocations", func(t *testing.T) {
		t.Parallel()
		sum := metrics.Values{}
		for range 2 {
			sum.Add(metrics.Values{metrics.FramesPushed: {2}, metrics.PushDelay: {3, 4}})
		}
		want := metrics.Values{metrics.FramesPushed: {4}, metrics.PushDelay: {3, 4, 3, 4}}
		if diff := cmp.Diff(want, sum); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("does nothing without a recorder", func(t *testing.T) {
		t.Parallel()
		metrics.Count(t.Context(), metrics.Conflicts, 1)
		metrics.Took(t.Context(), metrics.Latency, time.Second)
		if metrics.Recording(t.Context()) {
			t.Error("there is a recorder")
		}
	})
	t.Run("returns nothing if there are only incidental values", func(t *testing.T) {
		t.Parallel()
		ctx, r := metrics.With(t.Context())
		metrics.Count(ctx, metrics.ReadUnits, 2)
		if got := r.Values(); got != nil {
			t.Errorf("got %v", got)
		}
		metrics.Count(ctx, metrics.Conflicts, 1)
		if diff := cmp.Diff(metrics.Values{metrics.ReadUnits: {2}, metrics.Conflicts: {1}}, r.Values()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
