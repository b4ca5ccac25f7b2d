package stores_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/memory"
)

const day = 24 * time.Hour

// keeping is a store that keeps requests to agents for three days.
func keeping(l quota.Limits) (stores.Option, *calendar, stores.Option) {
	c := &calendar{}
	l.RequestDays = 3
	return stores.WithQuotas(l), c, stores.WithClock(c.now)
}

// mustRunning starts a run of the session "s" and returns what its requests are kept of.
func mustRunning(t testing.TB, s *stores.Store, id string) run.SentTo {
	t.Helper()
	mustStart(t, s, startOf(t, "s", id, "hi"))
	return mustSendTo(t, s, mustClaim(t, s, refOf("s", id), continuable("first", 2)))
}

func mustSendTo(t testing.TB, s *stores.Store, ref run.Ref) run.SentTo {
	t.Helper()
	h, err := s.Runs.AsOfInput(t.Context(), ref, run.HistoryLimit{})
	if err != nil {
		t.Fatal(err)
	}
	return run.SentTo{Ref: ref, LogID: h.LogID}
}

func sentRequest(to run.SentTo, n int, body string) run.SentRequest {
	return run.SentRequest{
		Continuation: to.Continuation, Number: n, SentTime: 1, Method: "POST", Path: "/run", Body: body, Size: int64(len(body)),
	}
}

func mustKeep(t testing.TB, s *stores.Store, to run.SentTo, n int, body string) {
	t.Helper()
	if err := s.Runs.KeepRequest(t.Context(), to, sentRequest(to, n, body)); err != nil {
		t.Fatal(err)
	}
}

// mustSent reads what the agent of a run was sent, page by page.
func mustSent(t testing.TB, s *stores.Store, id string, limit int) (all []run.SentRequest, pages int) {
	t.Helper()
	q := run.SentQuery{Ref: refOf("s", id), Limit: limit}
	for {
		page, err := s.Runs.SentRequests(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all, pages = append(all, page.Requests...), pages+1
		if page.Next == 0 {
			return all, pages
		}
		q.After = page.Next
	}
}

func wantSent(t testing.TB, s *stores.Store, id string, want ...string) {
	t.Helper()
	all, _ := mustSent(t, s, id, 2)
	got := []string{}
	for _, r := range all {
		got = append(got, fmt.Sprintf("%d.%d %s", r.Continuation, r.Number, r.Body))
	}
	if !slices.Equal(got, want) {
		t.Errorf("of run %s are kept %q, want %q", id, got, want)
	}
}

func TestSentRequests(t *testing.T) {
	t.Parallel()
	limits, c, clock := keeping(quota.Limits{})
	s := newStore(t, limits, clock)
	mustCreate(t, s, alice, "s", nil)
	to := mustRunning(t, s, "r")
	wantSent(t, s, "r")
	mustKeep(t, s, to, 2, `{"two":"é"}`)
	mustKeep(t, s, to, 1, `{"one":1}`)
	c.forward(run.Lease + time.Second)
	second := mustSendTo(t, s, mustClaim(t, s, refOf("s", "r"), continuable("second", 2)))
	mustKeep(t, s, second, 1, "of another worker")
	mustEnd(t, s, second.Ref, run.Completed, nil)
	other := mustRunning(t, s, "r2")
	mustKeep(t, s, other, 1, "of another run")
	mustKeep(t, s, other, 1, "of another run") // as after a lost answer
	mustEnd(t, s, other.Ref, run.Completed, nil)

	t.Run("are in the order of sending", func(t *testing.T) {
		wantSent(t, s, "r", `0.1 {"one":1}`, `0.2 {"two":"é"}`, "1.1 of another worker")
		wantSent(t, s, "r2", "0.1 of another run")
		all, pages := mustSent(t, s, "r", 1)
		want := sentRequest(to, 1, `{"one":1}`)
		want.ExpiresTime = all[0].ExpiresTime
		if diff := cmp.Diff(want, all[0]); diff != "" || pages != 3 {
			t.Errorf("on %d pages (-want +got):\n%s", pages, diff)
		}
		if left := time.Until(time.UnixMilli(all[0].ExpiresTime)); left > 3*day || left < 3*day-time.Hour {
			t.Errorf("kept for %s, want 3 days", left)
		}
	})
	t.Run("are only of runs that exist, for their owner", func(t *testing.T) {
		for name, q := range map[string]run.SentQuery{
			"no run":     {Ref: refOf("s", "none"), Limit: 1},
			"no session": {Ref: refOf("none", "r"), Limit: 1},
			"not hers":   {Ref: run.Ref{UserID: bob, SessionID: "s", RunID: "r"}, Limit: 1},
		} {
			_, err := s.Runs.SentRequests(t.Context(), q)
			if !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("from any place", func(t *testing.T) {
		for _, after := range []int64{-5, 999_999, 1 << 40, 1<<63 - 1} {
			page, err := s.Runs.SentRequests(t.Context(), run.SentQuery{Ref: refOf("s", "r"), Limit: 9, After: after})
			if err != nil || (len(page.Requests) > 0) != (after < 0) {
				t.Errorf("after %d: %d, %v", after, len(page.Requests), err)
			}
		}
	})
	t.Run("stay after a rewind, and forks have none of before", func(t *testing.T) {
		mustRewind(t, s, "s", "r2")
		wantSent(t, s, "r2", "0.1 of another run")
		mustFork(t, s, "s", "f", nil)
		_, err := s.Runs.SentRequests(t.Context(), run.SentQuery{Ref: refOf("f", "r"), Limit: 1})
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("of a run before the fork: %v", err)
		}
	})
	t.Run("are not shown once they have expired", func(t *testing.T) {
		c.forward(3*day - 30*time.Second) // a lease after the first ones
		wantSent(t, s, "r", "1.1 of another worker")
		c.forward(4 * time.Minute)
		wantSent(t, s, "r")
	})
}

func TestSentRequests_large(t *testing.T) {
	t.Parallel()
	limits, _, clock := keeping(quota.Limits{})
	s := newStore(t, limits, clock)
	mustCreate(t, s, alice, "s", nil)
	to := mustRunning(t, s, "r")
	const n = 17
	body := letters(t, run.MaxSentBody-100) + strings.Repeat(`"`, 100) // escaped in JSON
	for i := range n {
		mustKeep(t, s, to, i+1, body)
	}
	all, pages := mustSent(t, s, "r", 100)
	if len(all) != n || all[n-1].Body != body {
		t.Fatalf("%d are kept, want %d", len(all), n)
	}
	if want := n*run.MaxSentBody/session.PageBytes + 1; pages != want {
		t.Errorf("%d bytes are on %d pages, want %d", n*len(body), pages, want)
	}
}

// sentItems returns the keys of what is left of requests to agents.
func sentItems(t *testing.T, engine table.Engine) (left []string) {
	t.Helper()
	for _, k := range keysIn(t, engine) {
		if strings.Contains(k, "RQ#") || strings.Contains(k, "KEPT#") {
			left = append(left, k)
		}
	}
	return left
}

func TestSentRequests_go_with_the_session_and_the_user(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(*testing.T, *stores.Store)
		left int // the count of the bytes, which ends with its day
	}{
		"deleted": {func(t *testing.T, s *stores.Store) {
			t.Helper()
			if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
				t.Fatal(err)
			}
		}, 1},
		"erased": {func(t *testing.T, s *stores.Store) {
			t.Helper()
			if _, err := s.Lifecycle.Erase(t.Context(), alice); err != nil {
				t.Fatal(err)
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := storetest.Engine(t)
			limits, _, clock := keeping(quota.Limits{Bytes: 1 << 30})
			s := stores.New(engine, limits, clock)
			mustCreate(t, s, alice, "s", nil)
			mustKeep(t, s, mustRunning(t, s, "r"), 1, "{}")
			if got := sentItems(t, engine); len(got) != 2 {
				t.Fatalf("kept as %q", got)
			}
			c.end(t, s)
			if got := sentItems(t, engine); len(got) != c.left || c.left > 0 && !strings.Contains(got[0], "KEPT#") {
				t.Errorf("left are %q", got)
			}
		})
	}
}

func TestSentRequests_quota(t *testing.T) {
	t.Parallel()
	limits, c, clock := keeping(quota.Limits{Bytes: 300 << 10})
	s := newStore(t, limits, clock)
	mustCreate(t, s, alice, "s", nil)
	to := mustRunning(t, s, "r")
	mustEnd(t, s, to.Ref, run.Completed, nil)
	const size = 100 << 10
	for i := range 5 {
		before := bytesUsed(t, s)
		mustKeep(t, s, to, i+1, letters(t, size))
		if more := bytesUsed(t, s) - before; more < size/2 || more > size {
			t.Errorf("a request of %d bytes counts %d", size, more)
		}
		c.forward(time.Hour)
	}
	mustExceed(t, tryCreate(t, s, "more"), quota.Bytes, 300<<10)
	c.forward(4 * day)
	if got := bytesUsed(t, s); got > 1<<10 {
		t.Errorf("%d bytes count after all have expired", got)
	}
	mustCreate(t, s, alice, "more", nil)
	if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil { // what has expired is not subtracted
		t.Fatal(err)
	}
	if got := bytesUsed(t, s); got != 0 {
		t.Errorf("%d bytes count in the end", got)
	}
}

// Keeping costs a write unit for each kilobyte, in a request of its own; a quota of bytes
// adds one. Starts and ends of runs cost the same, also once something is kept.
func TestSentRequests_cost(t *testing.T) {
	t.Parallel()
	turns := func(l quota.Limits) (plain []capacity.Usage, keep capacity.Usage) {
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(memory.New(store.Schema())), stores.WithCodec(storetest.Codec()), stores.WithQuotas(l))
		mustCreate(t, s, alice, "s", nil)
		measure := func(f func()) capacity.Usage {
			before := meter.Total()
			f()
			return meter.Total().Sub(before)
		}
		for _, id := range []string{"r", "r2"} {
			var to run.SentTo
			start := measure(func() { to = mustRunning(t, s, id) })
			keep = measure(func() {
				if s.Runs.KeepsRequests() {
					mustKeep(t, s, to, 1, letters(t, 10<<10))
				}
			})
			end := measure(func() { mustEnd(t, s, to.Ref, run.Completed, nil) })
			plain = append(plain, start, end)
		}
		return plain, keep
	}
	for name, c := range map[string]struct {
		with, without quota.Limits
		keep          capacity.Usage
	}{
		"off":  {keep: capacity.Usage{}},
		"kept": {with: quota.Limits{RequestDays: 1}, keep: capacity.Usage{Writes: 8, Requests: 1}},
		"kept and counted": {
			with: quota.Limits{RequestDays: 1, Bytes: 1 << 30}, without: quota.Limits{Bytes: 1 << 30},
			keep: capacity.Usage{Writes: 9, Requests: 2},
		},
	} {
		without, _ := turns(c.without)
		with, keep := turns(c.with)
		if diff := cmp.Diff(without, with); diff != "" || len(with) != 4 {
			t.Errorf("%s: starts and ends of runs (-without +with):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.keep, keep); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
