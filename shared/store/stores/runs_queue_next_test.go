package stores_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// startsNext returns how many items say that a queued run of session "s" may begin.
func startsNext(t *testing.T, engine table.Engine) (n int) {
	t.Helper()
	for _, item := range storetest.Items(t, engine) {
		user, id, ok := runs.StartsQueued(records.Change{New: item})
		if !ok {
			continue
		}
		if n++; user != alice || id != "s" {
			t.Errorf("the item is about session %q of %q", id, user)
		}
	}
	return n
}

// queueing acts on the queue of session "s".
type queueing struct {
	t *testing.T
	s *stores.Store
}

func (q queueing) enqueue(runIDs ...string) { mustEnqueue(q.t, q.s, "s", runIDs...) }

func (q queueing) cancel(runID string) { mustCancel(q.t, q.s, runID) }

func (q queueing) rewind() { mustRewind(q.t, q.s, "s", "one") }

func (q queueing) complete() { mustEnd(q.t, q.s, refOf("s", "one"), run.Completed, nil) }

// block queues "two", which a failure blocks, and "three", and lets run "one" fail.
func (q queueing) block() {
	start := enqueueOf(q.t, "s", "two")
	start.OnFailed = run.Block
	mustStart(q.t, q.s, start)
	q.enqueue("three")
	mustEnd(q.t, q.s, refOf("s", "one"), run.Failed, run.NewProblem("boom", "it broke"))
}

// Whatever lets the first queued run begin writes an item that says so, and nothing
// else does.
func TestStartsQueued(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(queueing)
		want int
	}{
		"a run and a rewind without a queue":                      {func(q queueing) { q.complete(); q.rewind() }, 0},
		"a start that is queued":                                  {func(q queueing) { q.enqueue("two") }, 0},
		"the end of a run":                                        {func(q queueing) { q.enqueue("two"); q.complete() }, 1},
		"a cancellation":                                          {func(q queueing) { q.enqueue("two"); q.cancel("one") }, 1},
		"a cancellation in a queue":                               {func(q queueing) { q.enqueue("two", "three"); q.cancel("two") }, 0},
		"a rewind after the failure":                              {func(q queueing) { q.block(); q.rewind() }, 2},
		"a cancellation of the first that waits behind a failure": {func(q queueing) { q.block(); q.cancel("two") }, 2},
		"a cancellation of another that waits behind a failure":   {func(q queueing) { q.block(); q.cancel("three") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := storetest.Engine(t)
			s := stores.New(engine)
			mustCreate(t, s, alice, "s", nil)
			mustStart(t, s, startOf(t, "s", "one", "one"))
			test.do(queueing{t, s})
			if got := startsNext(t, engine); got != test.want {
				t.Errorf("%d items say that a queued run may begin, want %d", got, test.want)
			}
		})
	}
}

func mustCancel(t *testing.T, s *stores.Store, runID string) {
	t.Helper()
	if _, err := s.Runs.Cancel(t.Context(), refOf("s", runID)); err != nil {
		t.Fatalf("cancel run %s: %v", runID, err)
	}
}

// A start that is queued right before a run's end is written is not overlooked by it.
func TestStartsQueued_queued_before_the_end(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *stores.Store){
		"by its worker": func(t *testing.T, s *stores.Store) {
			t.Helper()
			mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
		},
		"by a cancellation": func(t *testing.T, s *stores.Store) {
			t.Helper()
			mustCancel(t, s, "one")
		},
		"by a refused rewind, then by a cancellation": func(t *testing.T, s *stores.Store) {
			t.Helper()
			_, err := s.History.Rewind(t.Context(), session.Rewind{UserID: alice, SessionID: "s", Before: "one", CancelRun: true, Nonce: "n"})
			if err == nil {
				t.Error("the session was rewound although a start is queued")
			}
			mustCancel(t, s, "one")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := storetest.Engine(t)
			plain := stores.New(engine)
			var armed atomic.Bool
			s := stores.New(hooks.New(engine, hooks.Hooks{Before: func(ctx context.Context, c hooks.Call) error {
				if c.Op != hooks.Transact || !armed.CompareAndSwap(true, false) {
					return nil
				}
				_, err := plain.Runs.Start(ctx, enqueueOf(t, "s", "two"))
				return err
			}}))
			mustCreate(t, s, alice, "s", nil)
			mustStart(t, s, startOf(t, "s", "one", "one"))
			armed.Store(true)
			end(t, s)
			if got := startsNext(t, engine); armed.Load() || got != 1 {
				t.Errorf("%d items say that the queued run may begin", got)
			}
			mustStartQueued(t, s, "two")
		})
	}
}
