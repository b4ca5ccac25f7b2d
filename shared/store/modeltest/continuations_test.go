package modeltest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	lifecycle "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// losing has a worker claim the first run, whose lease has expired since.
func losing() act {
	return act{name: "a worker that is lost", do: func(ctx context.Context, s *stores.Store, _ string) error {
		then := func() time.Time { return time.Now().Add(-lease - time.Hour) }
		_, err := s.With(stores.WithClock(then)).Runs.Claim(ctx, refTo(first), claimant("lost"))
		return err
	}}
}

// takingOver has another worker continue the first run.
func takingOver() act {
	return act{name: "a takeover", do: func(ctx context.Context, s *stores.Store, who string) error {
		_, err := s.Runs.Claim(ctx, refTo(first), claimant(who))
		return err
	}}
}

func claimant(who string) lifecycle.Claimant {
	return lifecycle.Claimant{Worker: "worker of " + who, Continuations: func(string) int { return 1 }}
}

// renewing is the late heartbeat of the first worker.
func renewing() act {
	return act{name: "a heartbeat", do: func(ctx context.Context, s *stores.Store, _ string) error {
		return s.Runs.Renew(ctx, refTo(first))
	}}
}

// expiring is the sweeper.
func expiring() act {
	return act{name: "a sweep", do: func(ctx context.Context, s *stores.Store, who string) error {
		_, err := s.Runs.Expire(ctx, func(ctx context.Context, _ lifecycle.Ref) error { return takingOver().do(ctx, s, who) })
		return err
	}}
}

// TestInterleavings_continuations is TestInterleavings_runs for a run whose worker
// was lost: another worker takes it over in the midst of any other operation, or the
// other way round.
func TestInterleavings_continuations(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := limited(st.engine)
	if _, err := s.Sessions.Create(t.Context(), session.New{ID: "s", UserID: runner, Nonce: "s"}); err != nil {
		t.Fatal(err)
	}
	start := starting("start", anyone, lifecycle.Reject, lifecycle.Discard)
	for _, a := range []act{appending("one"), start, losing(), producing(), beginning()} {
		if err := a.do(t.Context(), s, first); err != nil {
			t.Fatalf("%s: %v", a.name, err)
		}
	}
	st.keep()
	var sets []set
	for _, other := range append(acts(), renewing(), expiring(), takingOver()) {
		for _, pair := range [][2]act{{takingOver(), other}, {other, takingOver()}} {
			outer, inner := pair[0], pair[1]
			what := fmt.Sprintf("a lost worker: %s in the midst of %s", inner.name, outer.name)
			sets = append(sets, set{of: outer.name, first: 2, play: func(t *testing.T, at int) bool {
				t.Helper()
				return meet(t, what, st.fresh(t), outer, inner, at)
			}})
		}
	}
	number{all: 110, few: 10, every: 15}.play(t, sets)
}

// TestPairs_continuations is TestPairs for a takeover and any other operation.
func TestPairs_continuations(t *testing.T) {
	t.Parallel()
	p := newPairing(t, "lost")
	var sets []set
	for _, other := range append(p.acts, ending(lifecycle.Completed), renewing(), takingOver()) {
		for _, pair := range [][2]act{{takingOver(), other}, {other, takingOver()}} {
			var orders []outcome
			sets = append(sets, set{of: "lost, " + pair[0].name, first: 1, play: func(t *testing.T, at int) bool {
				t.Helper()
				if orders == nil {
					orders = p.orders(t, pair[0], pair[1])
				}
				return p.meet(t, orders, pair[0], pair[1], at)
			}})
		}
	}
	number{all: 140, few: 10, every: 15}.play(t, sets)
}

// shutOut checks that a worker has written nothing after its run was taken over.
func shutOut(t *testing.T, what string, log []session.Event) {
	t.Helper()
	over := int64(0)
	for _, e := range log {
		switch typ := string(e.Fields["type"]); {
		case typ == `"run_continued"`:
			over = e.Seq
		case over > 0 && e.InvocationID == first && typ == "":
			t.Errorf("%s: the first worker wrote event %d after the takeover at %d", what, e.Seq, over)
		case e.Status == session.EventInProgress && e.Seq < over:
			t.Errorf("%s: event %d is in progress after the takeover at %d", what, e.Seq, over)
		}
	}
	if over > 0 && log[over-2].Status == session.EventInProgress {
		t.Errorf("%s: the item in progress was not ended by the takeover", what)
	}
}
