package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
)

// TestForkIsASnapshot forks a session before each request of a change of its tasks,
// and crashes the change at each request after that. The fork must show the same
// immediately and in the end.
func TestForkIsASnapshot(t *testing.T) {
	t.Parallel()
	cases := append(taskCases(), crowdedCases()...)
	stages := settings(t, cases)
	var sets []set
	for _, c := range cases {
		for _, after := range []int64{0, 1, 2, 3} {
			sets = append(sets, set{of: c.name, first: 2, play: func(t *testing.T, at int) bool {
				t.Helper()
				return c.forkedMeanwhile(t, stages[c.setup].fresh(t), at, after)
			}})
		}
	}
	number{all: 186, few: 37, every: 4}.play(t, sets)
}

// forkedMeanwhile is one case: a crash that many requests after the fork, or none for
// 0; false if the change needs fewer requests.
func (c crashCase) forkedMeanwhile(t *testing.T, st *stage, at int, after int64) bool {
	t.Helper()
	what := fmt.Sprintf("fork before request %d of %s, crash %d after", at, c.name, after)
	s := c.model(t, func(*scene) {})
	var seen []task.Task
	i := &interruption{at: at, run: func() {
		_, err := st.store.History.Fork(t.Context(), s.forking("s", "g", ""))
		s.must(err)
		seen = shownTasks(t, st.store, "g")
	}}
	cr := &crash{at: int64(at) + after - 1}
	if after == 0 {
		cr.at = 1 << 30
	}
	store := open(cr.on(i.on(st.engine)))
	err := c.do(t.Context(), s, store)
	switch {
	case !i.reached():
		return false
	case err != nil && !errors.Is(err, errCrashed):
		t.Errorf("%s: %v", what, err)
	}
	if d := cmp.Diff(seen, shownTasks(t, st.store, "g")); d != "" {
		t.Errorf("%s: the fork changes (-at once +in the end)\n%s", what, d)
	}
	if err := c.do(t.Context(), s, st.store); err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("%s: again: %v", what, err)
	}
	if d := cmp.Diff(seen, shownTasks(t, st.store, "g")); d != "" {
		t.Errorf("%s: the fork changes later (-at once +in the end)\n%s", what, d)
	}
	return true
}

func shownTasks(t *testing.T, s *stores.Store, id string) []task.Task {
	t.Helper()
	page, err := s.Tasks.Tasks(t.Context(), task.Query{SessionID: id, UserID: "user"})
	if err != nil {
		t.Fatalf("tasks of %s: %v", id, err)
	}
	return page.Tasks
}

// crowdedCases change tasks of a session in which many tasks were just changed.
func crowdedCases() []crashCase {
	again := taskCase("save a task again among many", "task 3", []bubble{{text: "b3 again", invocation: "two"}})
	gone := crashCase{
		name: "delete a task",
		do: func(ctx context.Context, _ *scene, store *stores.Store) error {
			return store.Tasks.DeleteTask(ctx, "user", "s", "task")
		},
	}
	marked := crashCase{
		name: "give feedback on a task",
		do: func(ctx context.Context, _ *scene, store *stores.Store) error {
			return store.Feedback.MarkTask(ctx, task.Feedback{UserID: "user", SessionID: "s", TaskID: "task 3", Type: "positive"})
		},
	}
	cases := []crashCase{again, gone, marked}
	for i := range cases {
		cases[i].setup = "crowd"
	}
	return cases
}

// crowd is a story in which many tasks were saved, and saved again.
func crowd(s *scene) {
	story(s)
	for _, text := range []string{"new", "changed"} {
		for n := range 6 {
			id := fmt.Sprint("task ", n)
			s.save("s", &record{id: id, text: text + id, bubbles: []bubble{{text: "b" + id, invocation: "two"}}})
		}
	}
}
