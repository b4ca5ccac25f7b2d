package stores_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// TestInherited_by_id bounds what an inherited task costs by its id, and an id that is none,
// however many tasks the fork took over. Only an id with this fork's own ending that the source
// does not have is looked for among all: it may have been deleted there since.
func TestInherited_by_id(t *testing.T) {
	t.Parallel()
	const most = 6 // read units
	read := 0
	for _, n := range []int{10, 100, 1000} {
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(memory.New(store.Schema())))
		mustCreate(t, s, alice, "s", nil)
		for i := range n {
			mustSave(t, s, "s", fmt.Sprint("task-", i), bubbles("1"))
		}
		mustFork(t, s, "s", "f", nil)
		page, err := s.Tasks.Tasks(t.Context(), task.Query{UserID: alice, SessionID: "f", Limit: 10})
		if err != nil || len(page.Tasks) != 10 {
			t.Fatalf("%d tasks, %v", len(page.Tasks), err)
		}
		first, last := page.Tasks[0].ID, page.Tasks[9].ID
		_, rest, _ := strings.Cut(last, ".")
		for id, is := range map[string]bool{first: true, last: true, "none": false, "none." + rest: false} {
			before := meter.Total()
			_, err := s.Tasks.Task(t.Context(), alice, "f", id)
			bound := float64(most)
			if id == "none."+rest {
				bound += float64(n) / 30
			}
			if used := meter.Total().Sub(before); used.Reads > bound || used.Writes > 0 {
				t.Errorf("%q of %d tasks: %+v, at most %v read units", id, n, used, bound)
			}
			if read++; is != (err == nil) || !is && !errors.Is(err, fault.Of(fault.NotFound)) {
				t.Errorf("%q of %d tasks: %v", id, n, err)
			}
		}
	}
	if read != 12 {
		t.Errorf("%d tasks were read", read)
	}
}
