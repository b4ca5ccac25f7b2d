package watch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/watch"
)

// clocked is a pusher that notes when it was called, and by which messages.
type clocked struct {
	mu    sync.Mutex
	began time.Time
	posts map[int]int // by second
	last  map[string]time.Duration
	got   map[string]int
}

func newClocked() *clocked {
	return &clocked{began: time.Now(), posts: map[int]int{}, last: map[string]time.Duration{}, got: map[string]int{}}
}

func (c *clocked) Push(_ context.Context, connection string, _ []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := time.Since(c.began)
	c.posts[int(since/time.Second)]++
	c.last[connection] = since
	c.got[connection]++
	return nil
}

func (c *clocked) Close(context.Context, string) error { return nil }

func named(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("c%05d", i))
	}
	return names
}

// A crowd is sent at most PostRate messages a second; a smaller audience waits for none of it.
func TestDeliverToCrowds(t *testing.T) {
	const posts = 1000
	t.Run("keeps the rate", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, to := newAudience(map[string][]string{"a": named(4000), "b": {"few"}}), newClocked()
			f := newFanout(a, to).Paced(posts)
			wantDelivered(t, f.Deliver(t.Context(), []watch.LogUpdate{wholeEvent("a", 1), wholeEvent("b", 1)}))
			for second, n := range to.posts {
				if n > posts+500 { // a part may come early
					t.Errorf("%d posts in second %d", n, second)
				}
			}
			if len(to.got) != 4001 || to.last["few"] > 0 {
				t.Errorf("%d connections got the message, the one of another session after %s", len(to.got), to.last["few"])
			}
			if took := time.Since(to.began); took < 3*time.Second || took > 4*time.Second {
				t.Errorf("4,000 watchers at %d a second took %s", posts, took)
			}
		})
	})
	t.Run("merges what it can", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var deltas []watch.LogUpdate
			for i := range 10 {
				deltas = append(deltas, delta(int64(i+1), content.Delta{Text: "x"}))
			}
			to := newClocked()
			wantDelivered(t, newFanout(newAudience(map[string][]string{"a": named(600)}), to).Deliver(t.Context(), deltas))
			if to.got["c00000"] != 1 || to.got["c00599"] != 1 {
				t.Errorf("%d and %d messages for 10 deltas", to.got["c00000"], to.got["c00599"])
			}
		})
	})
	t.Run("returns an error without time for all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			to := newClocked()
			errs := newFanout(newAudience(map[string][]string{"a": named(4000)}), to).Paced(posts).Deliver(ctx, []watch.LogUpdate{wholeEvent("a", 1)})
			if errors.Join(errs...) == nil || len(to.got) == 0 || len(to.got) > posts+500 {
				t.Errorf("%v, %d connections got it", errs, len(to.got))
			}
		})
	})
	t.Run("has others post its parts, and posts what they cannot", func(t *testing.T) {
		a, to := newAudience(map[string][]string{"a": named(2000), "b": {"few"}}), newFakePusher()
		for _, gone := range []string{"c00001", "c01999"} {
			to.at(gone).answers = []error{watch.ErrGone}
		}
		other, parts := watch.NewPoster(to, slog.New(slog.DiscardHandler)), atomic.Int64{}
		f := newFanout(a, to).Spread(func(ctx context.Context, p watch.Part) (watch.Posted, error) {
			if parts.Add(1) == 2 {
				return watch.Posted{}, errBroken
			}
			return other.Post(ctx, p)
		})
		wantDelivered(t, f.Deliver(t.Context(), []watch.LogUpdate{wholeEvent("a", 1), wholeEvent("b", 1)}))
		for _, name := range append(named(2000), "few") {
			if name != "c00001" && name != "c01999" {
				wantGot(t, to, name, "0.1.0")
			}
		}
		if parts.Load() != 4 {
			t.Errorf("%d parts", parts.Load())
		}
		if diff := cmp.Diff(map[string][][]string{"a": {{"c00001", "c01999"}}}, a.left); diff != "" {
			t.Errorf("gone (-want +got):\n%s", diff)
		}
	})
}
