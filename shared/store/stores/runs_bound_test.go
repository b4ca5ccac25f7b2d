package stores_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
)

// A request for a run that does not exist costs the same however long the log is.
func TestRun_that_does_not_exist(t *testing.T) {
	t.Parallel()
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(storetest.Engine(t)))
	mustCreate(t, s, alice, "s", nil)
	for n := range 500 {
		mustAppend(t, s, alice, "s", event(t, "", fmt.Sprint("i", n), "question"), event(t, "", fmt.Sprint("i", n), "answer"))
	}
	for _, id := range []string{"i0", "i250", "i499", "none"} {
		before := meter.Total()
		if _, err := s.Runs.Run(t.Context(), refOf("s", id)); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("run %s: %v", id, err)
		}
		if u := meter.Total().Sub(before); u.Reads > 3 {
			t.Errorf("run %s: %+v, at most 3 reads", id, u)
		}
	}
}

// A run is found after its end although others appended events with its id before it
// began.
func TestRun_whose_invocation_existed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustAppend(t, s, alice, "s", event(t, "", "r1", "early"))
	mustStart(t, s, startOf(t, "s", "r1", "go"))
	mustEnd(t, s, refOf("s", "r1"), run.Completed, nil)
	mustAppend(t, s, alice, "s", event(t, "", "r2", "early"), event(t, "", "other", "later"))
	mustStart(t, s, startOf(t, "s", "r2", "go"))
	mustEnd(t, s, refOf("s", "r2"), run.Completed, nil)
	for _, id := range []string{"r1", "r2"} {
		if r, err := s.Runs.Run(t.Context(), refOf("s", id)); err != nil || r.Status != run.Completed {
			t.Errorf("run %s: %+v, %v", id, r, err)
		}
	}
}
