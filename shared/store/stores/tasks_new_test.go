package stores_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

var errInterrupted = errors.New("the process stopped")

// stopping returns a store whose writes of items with a prefix of the sort key fail, as if
// the process had stopped before them.
func stopping(engine table.Engine, prefix string) *stores.Store {
	return before(engine, func(_ context.Context, c hooks.Call) error {
		for _, w := range c.Writes {
			if strings.HasPrefix(w.Key.SK, prefix) {
				return errInterrupted
			}
		}
		return nil
	})
}

const (
	pointers   = "TI#"
	tasks      = "T#"
	someBubble = `[{"id":"m1","type":"user"}]`
)

// A save that stopped after the entry or after the pointer of a new task left nothing
// that can be seen, and the next one creates the task.
func TestSave_that_stopped(t *testing.T) {
	t.Parallel()
	for _, at := range []string{pointers, tasks} {
		t.Run("before "+at, func(t *testing.T) {
			t.Parallel()
			engine := storetest.Engine(t)
			s := stores.New(engine)
			mustCreate(t, s, alice, "s", nil)
			if _, _, err := stopping(engine, at).Tasks.Save(t.Context(), save("s", "t", someBubble)); !errors.Is(err, errInterrupted) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff([]string{}, taskIDs(t, s, "s", 0)); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
			if _, err := s.Tasks.Task(t.Context(), alice, "s", "t"); !errors.Is(err, fault.Of(fault.NotFound)) {
				t.Errorf("got %v", err)
			}
			mustFork(t, s, "s", "fork", nil)
			if !mustSave(t, s, "s", "t", someBubble) {
				t.Error("the task was not created")
			}
			if diff := cmp.Diff([]string{"t"}, taskIDs(t, s, "s", 0)); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{}, taskIDs(t, s, "fork", 0)); diff != "" {
				t.Errorf("tasks of the fork (-want +got):\n%s", diff)
			}
			mustExport(t, s)
		})
	}
}

// A task that is deleted as soon as it exists can be created again, also in place of what
// a fork took over.
func TestSave_after_a_deletion(t *testing.T) {
	t.Parallel()
	s := stores.New(storetest.Engine(t))
	mustCreate(t, s, alice, "s", nil)
	for range 2 {
		if !mustSave(t, s, "s", "t", someBubble) {
			t.Error("the task was not created")
		}
		if err := s.Tasks.DeleteTask(t.Context(), alice, "s", "t"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{}, taskIDs(t, s, "s", 0)); diff != "" {
			t.Errorf("tasks (-want +got):\n%s", diff)
		}
	}
	mustSave(t, s, "s", "t", someBubble)
	mustFork(t, s, "s", "fork", nil)
	taken := taskIDs(t, s, "fork", 0)
	if len(taken) != 1 {
		t.Fatalf("tasks of the fork: %v", taken)
	}
	if err := s.Tasks.DeleteTask(t.Context(), alice, "fork", taken[0]); err != nil {
		t.Fatal(err)
	}
	again := save("fork", taken[0], someBubble)
	again.Task.UserMessage, again.Task.Metadata = nil, nil
	if _, created, err := s.Tasks.Save(t.Context(), again); err != nil || !created {
		t.Errorf("created: %v, %v", created, err)
	}
	if diff := cmp.Diff(taken, taskIDs(t, s, "fork", 0)); diff != "" {
		t.Errorf("tasks of the fork (-want +got):\n%s", diff)
	}
}

// A save that names an invocation moves a task whose first save has not stored it yet: the
// first save does not leave it where it was.
func TestSave_moves_a_task_that_is_not_stored_yet(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	mustCreate(t, s, alice, "s", nil)
	mustAppend(t, s, alice, "s", event(t, "", "i", "hi"))
	moving, moved := save("s", "t", someBubble), false
	moving.Invocations = []string{"i"}
	slow := before(engine, func(ctx context.Context, c hooks.Call) error {
		isTask := func(w table.Write) bool { return strings.HasPrefix(w.Key.SK, tasks) }
		if !slices.ContainsFunc(c.Writes, isTask) || moved { // reads may be concurrent
			return nil
		}
		moved = true
		_, _, err := s.Tasks.Save(ctx, moving)
		return err
	})
	if _, _, err := slow.Tasks.Save(t.Context(), save("s", "t", someBubble)); err != nil || !moved {
		t.Errorf("moved: %v, %v", moved, err)
	}
	if diff := cmp.Diff([]string{"t"}, taskIDs(t, s, "s", 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// As many tasks as are created one after the other need no transaction; one more than the
// log can name while their saves have not ended is created in one.
func TestSave_of_many_new_tasks(t *testing.T) {
	t.Parallel()
	const many = 6
	transactions := func(engine table.Engine, count *int) *stores.Store {
		return before(engine, func(_ context.Context, c hooks.Call) error {
			if c.Op == hooks.Transact {
				*count++
			}
			return nil
		})
	}
	t.Run("one after the other", func(t *testing.T) {
		t.Parallel()
		count, engine := 0, storetest.Engine(t)
		mustCreate(t, stores.New(engine), alice, "s", nil)
		s := transactions(engine, &count)
		var want []string
		for n := range many {
			want = append(want, fmt.Sprint("t", n))
			mustSave(t, s, "s", want[n], someBubble)
		}
		if diff := cmp.Diff(want, taskIDs(t, s, "s", 0)); diff != "" || count > 0 {
			t.Errorf("%d transactions, tasks (-want +got):\n%s", count, diff)
		}
	})
	t.Run("of which the first have stopped", func(t *testing.T) {
		t.Parallel()
		count, engine := 0, storetest.Engine(t)
		s := stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		stopped := stopping(engine, tasks)
		var all []string
		for n := range many - 2 {
			all = append(all, fmt.Sprint("t", n))
			if _, _, err := stopped.Tasks.Save(t.Context(), save("s", all[n], someBubble)); !errors.Is(err, errInterrupted) {
				t.Fatalf("got %v", err)
			}
		}
		mustSave(t, transactions(engine, &count), "s", "another", someBubble)
		if count != 1 {
			t.Errorf("%d transactions", count)
		}
		mustFork(t, s, "s", "fork", nil)
		then := taskIDs(t, s, "fork", 0)
		if len(then) != 1 {
			t.Errorf("tasks of the fork: %v", then)
		}
		for _, id := range all {
			mustSave(t, s, "s", id, someBubble)
		}
		if diff := cmp.Diff(then, taskIDs(t, s, "fork", 0)); diff != "" {
			t.Errorf("tasks of the fork (-then +now):\n%s", diff)
		}
		got := taskIDs(t, s, "s", 0)
		if slices.Sort(got); !slices.Equal(got, append([]string{"another"}, all...)) {
			t.Errorf("tasks: %v", got)
		}
	})
}
