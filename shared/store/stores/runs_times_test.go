package stores_test

import (
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// A run says when its input was queued and which trace its last worker has, while it is
// active and ever after, without a write of their own.
func TestRun_says_how_long_it_waited_and_its_trace(t *testing.T) {
	t.Parallel()
	c := &calendar{}
	s := busy(t, stores.WithClock(c.now))
	mustEnqueue(t, s, "s", "two")
	read := func(id string) run.Run {
		t.Helper()
		r, err := s.Runs.Run(t.Context(), refOf("s", id))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	queued := read("two").QueuedTime
	if queued == 0 || queued != read("two").StartedTime {
		t.Errorf("while it waits: %+v", read("two"))
	}
	c.forward(10 * time.Second)
	mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
	mustStartQueued(t, s, "two")
	by := continuable("first", 2)
	by.Trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	mustClaim(t, s, refOf("s", "two"), by)
	check := func(when string, trace string) {
		t.Helper()
		r := read("two")
		if waited := r.StartedTime - r.QueuedTime; r.QueuedTime != queued || waited < 10_000 || r.TraceID != trace {
			t.Errorf("%s it has waited %d ms, and is in trace %q", when, waited, r.TraceID)
		}
	}
	check("at work", by.Trace)
	c.forward(run.Lease + time.Second)
	ref := mustClaim(t, s, refOf("s", "two"), continuable("untraced", 2))
	check("continued without a trace", by.Trace)
	c.forward(run.Lease + time.Second)
	again := continuable("third", 2)
	again.Trace = "0af7651916cd43dd8448eb211c80319c"
	ref = mustClaim(t, s, run.Ref{UserID: ref.UserID, SessionID: "s", RunID: "two"}, again)
	check("continued", again.Trace)
	mustEnd(t, s, ref, run.Completed, nil)
	check("in the end", again.Trace)
	if r := read("one"); r.QueuedTime != 0 || r.TraceID != "" {
		t.Errorf("one that did not wait and has no trace: %+v", r)
	}

	cost := func(trace string) capacity.Usage {
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(memory.New(store.Schema())))
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		by := continuable("w", 1)
		by.Trace = trace
		mustEnd(t, s, mustClaim(t, s, refOf("s", "r"), by), run.Completed, nil)
		return meter.Total()
	}
	if with, without := cost(by.Trace), cost(""); with != without {
		t.Errorf("a run with a trace takes %+v, without %+v", with, without)
	}
}
