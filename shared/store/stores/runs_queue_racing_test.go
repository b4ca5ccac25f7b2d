package stores_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// said returns how often each text is in the effective thread, and the texts.
func said(t testing.TB, s *stores.Store, id string) (times map[string]int, all []string) {
	t.Helper()
	times = map[string]int{}
	for _, e := range mustEvents(t, s, alice, id, session.EventQuery{}) {
		_, text, _ := strings.Cut(texts([]session.Event{e})[0], ":")
		times[text]++
		all = append(all, text)
	}
	return times, all
}

// startAll begins and ends queued runs from several callers until done is set and
// nothing is left.
func startAll(t *testing.T, s *stores.Store, done *atomic.Bool, callers int) *sync.WaitGroup {
	t.Helper()
	var racing sync.WaitGroup
	for w := range callers {
		racing.Go(func() {
			for {
				over := done.Load()
				r, err := s.Runs.StartQueued(t.Context(), alice, "s")
				if err != nil {
					t.Errorf("start what is queued: %v", err)
					return
				}
				if r != nil {
					// Only one of the workers that it may be handed to claims it.
					if _, err := s.Runs.Claim(t.Context(), refOf("s", r.ID), run.Claimant{Worker: fmt.Sprint("w", w)}); err == nil {
						mustEnd(t, s, refOf("s", r.ID), run.Completed, nil)
					} else if !errors.Is(err, fault.Of(fault.Conflict)) {
						t.Errorf("claim: %v", err)
					}
					continue
				}
				if th := mustThread(t, s, "s"); over && len(th.Queue.Starts) == 0 && th.Run == nil {
					return
				}
			}
		})
	}
	return &racing
}

// Starts that several callers queue while runs end and others begin are all in the
// thread once, in the order in which each caller queued them.
func TestEnqueue_racing(t *testing.T) {
	t.Parallel()
	const callers, each = 4, 6
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	var done atomic.Bool
	starting := startAll(t, s, &done, 2)
	var racing sync.WaitGroup
	for c := range callers {
		racing.Go(func() {
			for n := 0; n < each; {
				id := fmt.Sprintf("%d-%d", c, n)
				r, err := s.Runs.Start(t.Context(), enqueueOf(t, "s", id))
				switch {
				case errors.Is(err, fault.Of(fault.Conflict)):
					continue // the queue is full
				case err != nil:
					t.Errorf("enqueue %s: %v", id, err)
					return
				case r.Status == run.InProgress: // nothing was active
					if _, err := s.Runs.Claim(t.Context(), refOf("s", id), run.Claimant{Worker: "caller"}); err == nil {
						mustEnd(t, s, refOf("s", id), run.Completed, nil)
					}
				}
				n++
			}
		})
	}
	racing.Wait()
	done.Store(true)
	starting.Wait()
	times, all := said(t, s, "s")
	for c := range callers {
		last := -1
		for n := range each {
			id := fmt.Sprintf("%d-%d", c, n)
			at := slices.Index(all, id)
			if times[id] != 1 || at < last {
				t.Errorf("%s is in the thread %d times, at %d, and the one before it at %d", id, times[id], at, last)
			}
			last = at
		}
	}
	t.Logf("%d starts by %d callers: %v", len(all), callers, all)
	if len(all) != callers*each {
		t.Errorf("%d inputs, want %d", len(all), callers*each)
	}
}

// Cancellations and merges compete with the starts of queued runs: what was
// cancelled in the queue is not in the thread, everything else once.
func TestEnqueue_racing_with_cancellations(t *testing.T) {
	t.Parallel()
	const rounds = 12
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	var want, never []string
	merged, cancelled := 0, 0
	for n := range rounds {
		first, a, b, c := fmt.Sprint("first", n), fmt.Sprint("a", n), fmt.Sprint("b", n), fmt.Sprint("c", n)
		mustStart(t, s, startOf(t, "s", first, first))
		mustEnqueue(t, s, "s", a, b)
		var racing sync.WaitGroup
		var gone, mergedNow bool
		racing.Go(func() {
			_, err := s.Runs.End(t.Context(), refOf("s", first), run.Completed, nil)
			if err != nil && !errors.Is(err, fault.Of(fault.Conflict)) { // a merge cancelled it
				t.Errorf("end %s: %v", first, err)
			}
		})
		racing.Go(func() {
			r, err := s.Runs.Cancel(t.Context(), refOf("s", b))
			if err != nil {
				t.Errorf("cancel %s: %v", b, err)
			}
			gone = r.Status == run.Cancelled
		})
		racing.Go(func() {
			if n%2 == 0 {
				mustStart(t, s, enqueueOf(t, "s", c))
				return
			}
			_, err := s.Runs.Start(t.Context(), mergeOf(t, "s", c))
			if mergedNow = err == nil; err != nil && !errors.Is(err, fault.Of(fault.Conflict)) {
				t.Errorf("merge %s: %v", c, err)
			}
		})
		racing.Wait()
		var done atomic.Bool
		done.Store(true)
		if th := mustThread(t, s, "s"); th.Run != nil {
			if r, err := s.Runs.Claim(t.Context(), refOf("s", th.Run.ID), run.Claimant{Worker: "worker"}); err == nil {
				mustEnd(t, s, refOf("s", r.ID), run.Completed, nil)
			}
		}
		startAll(t, s, &done, 3).Wait()
		want = append(want, first, a)
		if times, _ := said(t, s, "s"); times[b] > 0 { // it was merged before it could be cancelled
			want = append(want, b)
			merged++
		} else if never = append(never, b); gone {
			cancelled++
		}
		if n%2 == 0 || mergedNow {
			want = append(want, c)
		}
	}
	times, all := said(t, s, "s")
	for _, id := range want {
		if times[id] != 1 {
			t.Errorf("%s is in the thread %d times", id, times[id])
		}
	}
	for _, id := range never {
		if times[id] != 0 {
			t.Errorf("%s was cancelled and is in the thread", id)
		}
	}
	t.Logf("%d rounds: %d cancelled, %d merged: %v", rounds, cancelled, merged, all)
	if len(all) != len(want) {
		t.Errorf("%d inputs, want %d", len(all), len(want))
	}
}

// A deletion competes with everything that changes a queue: afterwards the session
// does not exist, and nothing begins in it.
func TestEnqueue_racing_with_a_deletion(t *testing.T) {
	t.Parallel()
	const rounds = 10
	s := newStore(t)
	for range rounds {
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "one", "one"))
		mustEnqueue(t, s, "s", "two")
		ignore := func(_ any, err error) {
			if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
				t.Errorf("during the deletion: %v", err)
			}
		}
		var racing sync.WaitGroup
		racing.Go(func() { ignore(s.Runs.Start(t.Context(), enqueueOf(t, "s", "three"))) })
		racing.Go(func() { ignore(s.Runs.Cancel(t.Context(), refOf("s", "two"))) })
		racing.Go(func() {
			ignore(s.Runs.End(t.Context(), refOf("s", "one"), run.Completed, nil))
			ignore(s.Runs.StartQueued(t.Context(), alice, "s"))
		})
		racing.Go(func() {
			if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
				t.Errorf("delete: %v", err)
			}
		})
		racing.Wait()
		_, err := s.Runs.StartQueued(t.Context(), alice, "s")
		wantKind(t, err, fault.NotFound)
	}
	t.Logf("%d rounds", rounds)
}
