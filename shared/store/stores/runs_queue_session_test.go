package stores_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// What the operations on a session do to its queue.
func TestEnqueue_and_the_session(t *testing.T) {
	t.Parallel()
	t.Run("a fork takes over no queued start", func(t *testing.T) {
		t.Parallel()
		s := busy(t)
		mustEnqueue(t, s, "s", "two")
		mustFork(t, s, "s", "fork", nil)
		wantQueued(t, s, "fork")
		_, err := s.Runs.Run(t.Context(), refOf("fork", "two"))
		wantKind(t, err, fault.NotFound)
	})
	t.Run("a deletion removes the queue", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "one", "one"))
		mustEnqueue(t, s, "s", "two")
		if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
			t.Fatal(err)
		}
		for _, item := range storetest.Items(t, engine) {
			if strings.Contains(fmt.Sprint(item), "QUEUE") {
				t.Errorf("left: %v", item)
			}
		}
		_, err := s.Runs.StartQueued(t.Context(), alice, "s")
		wantKind(t, err, fault.NotFound)
	})
	t.Run("an export waits until the queue is empty", func(t *testing.T) {
		t.Parallel()
		s := busy(t)
		mustEnqueue(t, s, "s", "two")
		mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
		wantKind(t, s.Archives.Export(t.Context(), alice, "s", archive.NewWriter(io.Discard)), fault.Conflict)
		mustCancel(t, s, "two")
		mustExport(t, s)
	})
	t.Run("a lost worker's run fails, and the queue goes on", func(t *testing.T) {
		t.Parallel()
		c := &calendar{}
		s := busy(t, stores.WithClock(c.now))
		mustEnqueue(t, s, "s", "two")
		c.forward(2 * run.Lease)
		mustStartQueued(t, s, "two")
		wantSaid(t, s, "s", "two")
	})
	t.Run("a run that no worker claims leaves its input to the next", func(t *testing.T) {
		t.Parallel()
		c := &calendar{}
		s := busy(t, stores.WithClock(c.now))
		mustEnqueue(t, s, "s", "two", "three")
		mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
		mustStartQueued(t, s, "two")
		c.forward(2 * run.Lease)
		mustStartQueued(t, s, "three")
		wantSaid(t, s, "s", "one", "two", "three")
	})
	t.Run("an input that cannot be stored blocks no other", func(t *testing.T) {
		t.Parallel()
		s := busy(t)
		poisoned := enqueueOf(t, "s", "two")
		poisoned.Input = []session.Event{event(t, "", "two", "two"), stateEvent(t, "two", map[string]any{"k": strings.Repeat("x", 150<<10)})}
		mustStart(t, s, poisoned)
		mustEnqueue(t, s, "s", "three")
		mustAppend(t, s, alice, "s", stateEvent(t, "other", map[string]any{"large": strings.Repeat("x", session.MaxState-20<<10)}))
		mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
		mustStartQueued(t, s, "")
		wantStatus(t, s, refOf("s", "two"), run.Failed)
		mustStartQueued(t, s, "three")
		wantStatus(t, s, refOf("s", "three"), run.InProgress)
	})
	t.Run("retention waits until the queue has run", func(t *testing.T) {
		t.Parallel()
		for end, status := range map[string]run.Status{"next": run.Completed, "blocked": run.Failed} {
			s, clock := kept(t)
			mustCreate(t, s, alice, "s", nil)
			mustStart(t, s, startOf(t, "s", "one", "one"))
			start := enqueueOf(t, "s", "two")
			start.OnFailed = run.Block
			mustStart(t, s, start)
			mustEnd(t, s, refOf("s", "one"), status, nil)
			clock.forward(2 * time.Hour)
			if n, err := s.Lifecycle.SweepRetention(t.Context()); n != 0 || err != nil {
				t.Errorf("%s: %d sessions were deleted, %v", end, n, err)
			}
			wantQueued(t, s, "s", "two")
			if _, err := s.Runs.Cancel(t.Context(), refOf("s", "two")); err != nil {
				t.Fatal(err)
			}
			clock.forward(2 * time.Hour)
			if n, err := s.Lifecycle.SweepRetention(t.Context()); n != 1 || err != nil {
				t.Errorf("%s: %d sessions were deleted after the queue was empty, %v", end, n, err)
			}
		}
	})
}

func TestSweepQueues(t *testing.T) {
	t.Parallel()
	c := &calendar{}
	engine := storetest.Engine(t)
	s := stores.New(engine, stores.WithClock(c.now))
	for _, id := range []string{"idle", "active", "deleted", "empty"} {
		mustCreate(t, s, alice, id, nil)
		mustStart(t, s, startOf(t, id, "one", "one"))
		mustEnqueue(t, s, id, "two")
	}
	mustEnd(t, s, refOf("idle", "one"), run.Completed, nil)
	mustFork(t, s, "deleted", "fork", nil) // it keeps the log
	if err := s.Sessions.Delete(t.Context(), alice, "deleted"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Runs.Cancel(t.Context(), refOf("empty", "two")); err != nil {
		t.Fatal(err)
	}
	sweep := func() (n int, handed []string) {
		t.Helper()
		n, err := s.Runs.SweepQueues(t.Context(), func(ctx context.Context, userID, sessionID string) (bool, error) {
			r, err := s.Runs.StartQueued(ctx, userID, sessionID)
			if r != nil {
				handed = append(handed, r.SessionID+" "+r.ID)
			}
			return r != nil, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, handed
	}
	if n, _ := sweep(); n != 0 {
		t.Errorf("%d runs began at once", n)
	}
	c.forward(30 * time.Second)
	if n, handed := sweep(); n != 1 || !slices.Equal(handed, []string{"idle two"}) {
		t.Errorf("%d runs began: %v", n, handed)
	}
	c.forward(time.Second)
	if n, handed := sweep(); n != 0 {
		t.Errorf("%d runs began: %v", n, handed)
	}
	left := 0
	for _, item := range storetest.Items(t, engine) {
		if strings.Contains(fmt.Sprint(item["GPK"]), "QUEUE#") {
			left++
		}
	}
	if left != 1 { // that of the active session
		t.Errorf("%d queues are in the index", left)
	}
}

// A user whose runs are used up keeps what is queued until one has ended.
func TestEnqueue_over_the_quota(t *testing.T) {
	t.Parallel()
	s, _ := limited(t, quota.Limits{Runs: 1})
	for _, id := range []string{"s", "other"} {
		mustCreate(t, s, alice, id, nil)
	}
	mustStart(t, s, startOf(t, "s", "one", "one"))
	mustEnqueue(t, s, "s", "two")
	mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
	mustStart(t, s, startOf(t, "other", "run", "run"))
	_, err := s.Runs.StartQueued(t.Context(), alice, "s")
	mustExceed(t, err, quota.Runs, 1)
	wantQueued(t, s, "s", "two")
	mustEnd(t, s, refOf("other", "run"), run.Completed, nil)
	mustStartQueued(t, s, "two")
	mustUse(t, s, 2, 1)
}
