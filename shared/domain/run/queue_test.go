package run_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func queued(id, text string) run.Queued {
	return run.Queued{RunID: id, Agent: "a", Time: 5, Input: []session.Event{{
		Author: "user", Fields: map[string]json.RawMessage{"content": json.RawMessage(fmt.Sprintf("%q", text))},
	}}}
}

func mustAccept(t *testing.T, q run.Queue, s run.Queued) run.Queue {
	t.Helper()
	q, err := q.Accept(s, "r")
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func ids(q run.Queue) (out string) {
	for _, s := range q.Starts {
		out += s.RunID + " "
	}
	return out
}

func TestQueue(t *testing.T) {
	t.Parallel()
	var q run.Queue
	for i := range 4 {
		q = mustAccept(t, q, queued(fmt.Sprint("q", i), "hi"))
	}
	if begun := q.Begin(); ids(begun) != "q1 q2 q3 " || begun.Version != 5 || ids(q) != "q0 q1 q2 q3 " {
		t.Errorf("after the first began: %s at version %d, before %s", ids(begun), begun.Version, ids(q))
	}
	q = q.Cancel("q2", 7)
	if ids(q) != "q0 q1 q3 " || q.Version != 5 {
		t.Errorf("after a cancellation: %s at version %d", ids(q), q.Version)
	}
	seven := int64(7)
	for id, want := range map[string]*run.Run{
		"q1":      {ID: "q1", SessionID: "s", Agent: "a", Mode: run.Managed, Status: run.Waiting, StartedTime: 5, QueuedTime: 5},
		"q2":      {ID: "q2", SessionID: "s", Agent: "a", Mode: run.Managed, Status: run.Cancelled, StartedTime: 5, QueuedTime: 5, EndedTime: &seven},
		"unknown": nil,
	} {
		if diff := cmp.Diff(want, q.Find(run.Ref{SessionID: "s", RunID: id})); diff != "" {
			t.Errorf("run %s (-want +got):\n%s", id, diff)
		}
	}
	if q = q.Merge(9); len(q.Starts) > 0 || len(q.Removed) != 4 {
		t.Errorf("after a merge: %+v", q)
	}
	for i := range 200 {
		q = mustAccept(t, q, queued(fmt.Sprint("more", i), "hi")).Merge(10)
	}
	if n := len(q.Removed); n != 100 || q.Removed[n-1].RunID != "more199" {
		t.Errorf("%d removed starts are remembered, want the 100 latest", n)
	}
}

func TestQueue_limits(t *testing.T) {
	t.Parallel()
	refused := func(q run.Queue, s run.Queued, active, runID string) {
		t.Helper()
		_, err := q.Accept(s, active)
		mustConflict(t, err, runID)
		var f *fault.Error
		if errors.As(err, &f) && (f.Extra["max_queued"] != run.MaxQueued || f.Extra["queued"] != len(q.Starts)) {
			t.Errorf("the fault has %v", f.Extra)
		}
	}
	var q run.Queue
	for i := range run.MaxQueued {
		q = mustAccept(t, q, queued(fmt.Sprint("q", i), "hi"))
	}
	refused(q, queued("more", "hi"), "r", "r")
	refused(q, queued("more", "hi"), "", "q0")
	large := queued("large", strings.Repeat("x", run.MaxQueuedBytes))
	refused(run.Queue{}, large, "r", "r")
	half := queued("half", strings.Repeat("x", run.MaxQueuedBytes/2))
	refused(mustAccept(t, run.Queue{}, half), half, "r", "r")
}

func TestBefore_queue(t *testing.T) {
	t.Parallel()
	blocks := []run.Queued{{RunID: "q1", OnFailed: run.Block}}
	for name, c := range map[string]struct {
		before    run.Before
		startable bool
		refused   string // the run that refuses a rewind
	}{
		"an empty queue":                       {run.Before{}, false, ""},
		"a queue behind an active run":         {run.Before{Active: "r", Queue: blocks}, false, "q1"},
		"a queue behind no run":                {run.Before{Queue: blocks}, true, "q1"},
		"a queue behind a cancelled run":       {run.Before{Unfinished: "r", Queue: blocks}, true, "q1"},
		"a queue blocked by a failed run":      {run.Before{Failed: true, Unfinished: "r", Queue: blocks}, false, ""},
		"a queue that discards the failed run": {run.Before{Failed: true, Unfinished: "r", Queue: []run.Queued{{RunID: "q1"}}}, true, "q1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.before.Startable(); got != c.startable {
				t.Errorf("startable is %v", got)
			}
			switch err := c.before.Rewindable(); {
			case c.refused != "":
				mustConflict(t, err, c.refused)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

func TestInputOf_queued(t *testing.T) {
	t.Parallel()
	waiting := queued("q1", "waiting")
	waiting.Input[0].ID, waiting.Input[0].InvocationID = "chosen", "q1"
	start := run.Start{Ref: run.Ref{RunID: "r2"}, Input: queued("", "new").Input}
	old := queued("", "old").Input
	got, err := start.InputOf(run.StartPlan{Cancels: "r1", Takes: 1, TakesCount: 1, Merges: []run.Queued{waiting}}, append(old, old...)[:1:1])
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, e := range got {
		said += string(e.Fields["content"])
		if e.InvocationID != "r2" || e.ID != "" {
			t.Errorf("the event is %+v", e)
		}
	}
	if said != `"old""waiting""new"` {
		t.Errorf("the input is %s", said)
	}
	many := make([]run.Queued, run.MaxMerged)
	for i := range many {
		many[i] = queued(fmt.Sprint("q", i), "hi")
	}
	_, err = start.InputOf(run.StartPlan{Merges: many}, nil)
	mustConflict(t, err, "q0")
}

func TestStatus_final(t *testing.T) {
	t.Parallel()
	for status, final := range map[run.Status]bool{
		run.InProgress: false, run.Waiting: false, run.Completed: true, run.Failed: true, run.Cancelled: true,
	} {
		if status.Final() != final {
			t.Errorf("final of %s is %v", status, !final)
		}
	}
}
