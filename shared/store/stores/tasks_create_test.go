package stores_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// A task is created while something else happens to its session, before each of the
// requests that this takes.
func TestSave_creates_a_task_while(t *testing.T) {
	t.Parallel()
	const task = "t1"
	for name, meanwhile := range map[string]func(*testing.T, *stores.Store, string){
		"events are appended": func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			mustAppend(t, s, alice, id, event(t, "", "other", "hello"))
		},
		"events of its invocation are appended": func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			mustAppend(t, s, alice, id, event(t, "", task, "hello"))
		},
		"another caller creates it": func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			mustSave(t, s, id, task, `[{"id":"m0","type":"user"}]`)
		},
		"another caller creates and deletes it": func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			mustSave(t, s, id, task, `[{"id":"m0","type":"user"}]`)
			if err := s.Tasks.DeleteTask(t.Context(), alice, id, task); err != nil {
				t.Error(err)
			}
		},
		"another caller creates and moves it": func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			mustSave(t, s, id, task, `[{"id":"m0","type":"user"}]`)
			mustSave(t, s, id, task, `[{"id":"m0","type":"user"}]`, "later")
		},
		"another caller creates another": func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			mustSave(t, s, id, "t0", `[{"id":"m0","type":"user"}]`)
			if err := s.Tasks.DeleteTask(t.Context(), alice, id, "t0"); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			beforeEachRequest(t, meanwhile, func(s, undisturbed *stores.Store, id string) {
				mustSave(t, s, id, task, `[{"id":"m1","type":"user"}]`)
				if diff := cmp.Diff([]string{task}, taskIDs(t, undisturbed, id, 0)); diff != "" {
					t.Errorf("tasks (-want +got):\n%s", diff)
				}
				got, err := undisturbed.Tasks.Task(t.Context(), alice, id, task)
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(`[{"id":"m1","type":"user"}]`, string(got.Bubbles)); diff != "" {
					t.Errorf("bubbles (-want +got):\n%s", diff)
				}
				mustRewind(t, undisturbed, id, task)
				if diff := cmp.Diff([]string{}, taskIDs(t, undisturbed, id, 0)); diff != "" {
					t.Errorf("tasks after a rewind (-want +got):\n%s", diff)
				}
			})
		})
	}
	t.Run("a turn is rewound, which hides it only if it had its position", func(t *testing.T) {
		t.Parallel()
		want := []string{task}
		rewind := func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			for _, e := range mustEvents(t, s, alice, id, session.EventQuery{View: session.All}) {
				if e.TaskID == task {
					want = []string{}
				}
			}
			mustRewind(t, s, id, "early")
		}
		beforeEachRequest(t, rewind, func(s, undisturbed *stores.Store, id string) {
			mustSave(t, s, id, task, `[{"id":"m1","type":"user"}]`)
			if diff := cmp.Diff(want, taskIDs(t, undisturbed, id, 0)); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
			want = []string{task}
		})
	})
	t.Run("the session is forked, and the fork does not change", func(t *testing.T) {
		t.Parallel()
		var then []string
		fork := func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			mustFork(t, s, id, id+"-fork", nil)
			then = taskIDs(t, s, id+"-fork", 0)
		}
		beforeEachRequest(t, fork, func(s, undisturbed *stores.Store, id string) {
			mustSave(t, s, id, task, `[{"id":"m1","type":"user"}]`)
			mustSave(t, s, id, task, `[{"id":"m2","type":"user"}]`)
			if then == nil {
				return // the save made fewer requests
			}
			if diff := cmp.Diff(then, taskIDs(t, undisturbed, id+"-fork", 0)); diff != "" {
				t.Errorf("tasks of the fork (-then +now):\n%s", diff)
			}
			then = nil
		})
	})
	t.Run("the session is deleted", func(t *testing.T) {
		t.Parallel()
		remove := func(t *testing.T, s *stores.Store, id string) {
			t.Helper()
			if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
				t.Error(err)
			}
		}
		beforeEachRequest(t, remove, func(s, undisturbed *stores.Store, id string) {
			_, _, err := s.Tasks.Save(t.Context(), save(id, task, `[{"id":"m1","type":"user"}]`))
			if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
				t.Error(err)
			}
		})
	})
}

// beforeEachRequest calls check with sessions of one turn, and with a store that calls
// meanwhile before one of its requests: the first, then the second, until check makes no
// more. It is not called before requests that the store makes beside others.
func beforeEachRequest(
	t *testing.T, meanwhile func(*testing.T, *stores.Store, string), check func(s, undisturbed *stores.Store, id string),
) {
	t.Helper()
	const never = -1
	engine := storetest.Engine(t)
	undisturbed, id := stores.New(engine), ""
	var left atomic.Int64
	left.Store(never)
	s := before(engine, func(_ context.Context, c hooks.Call) error {
		if !readsNewest(c) && left.Load() >= 0 && left.Add(-1) == never {
			meanwhile(t, undisturbed, id)
		}
		return nil
	})
	for n := int64(0); !t.Failed(); n++ {
		id = fmt.Sprint("s", n)
		mustCreate(t, undisturbed, alice, id, nil)
		mustAppend(t, undisturbed, alice, id, event(t, "", "early", "hello"))
		left.Store(n)
		check(s, undisturbed, id)
		if left.Swap(never) != never {
			const least = 6
			if n < least {
				t.Errorf("there were only %d requests", n)
			}
			return
		}
	}
}
