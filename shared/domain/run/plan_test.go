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

// mustConflict checks that err is a conflict that names a run.
func mustConflict(t *testing.T, err error, runID string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict || f.Extra["run_id"] != runID {
		t.Errorf("%v, want a conflict with run %s", err, runID)
	}
}

func TestStartPlan(t *testing.T) {
	t.Parallel()
	active := run.Before{Active: "r1", ActiveInput: 4, Unfinished: "r0", Pending: 2, PendingCount: 1}
	failed := run.Before{Failed: true, Unfinished: "r1"}
	queue := []run.Queued{{RunID: "q1", OnFailed: run.Block}, {RunID: "q2"}}
	behind := run.Before{Active: "r1", ActiveInput: 4, Queue: queue}
	due := run.Before{Queue: queue, Unfinished: "r0", Pending: 2, PendingCount: 1}
	blocked := run.Before{Failed: true, Unfinished: "r1", Queue: queue}
	merging := run.Start{OnActive: run.CancelAndMerge}
	enqueuing := run.Start{OnActive: run.Enqueue}
	for name, c := range map[string]struct {
		start   run.Start
		before  run.Before
		want    run.StartPlan
		refused string
	}{
		"an idle session": {start: run.Start{}},
		"is refused during an active run by default":          {before: active, refused: "r1"},
		"is refused during an active run":                     {start: run.Start{OnActive: run.Reject}, before: active, refused: "r1"},
		"replaces an active run and takes over its input":     {start: run.Start{OnActive: run.CancelAndMerge}, before: active, want: run.StartPlan{Cancels: "r1", Discards: "r1", Takes: 4}},
		"replaces an active run although failed runs block":   {start: run.Start{OnActive: run.CancelAndMerge, OnFailed: run.Block}, before: active, want: run.StartPlan{Cancels: "r1", Discards: "r1", Takes: 4}},
		"cancels an active run that is kept":                  {start: merging, before: run.Before{Active: "r1", ActiveInput: 4, ActiveKept: true, Queue: queue}, want: run.StartPlan{Cancels: "r1", Merges: queue}},
		"replaces a failed run":                               {start: run.Start{OnFailed: run.Discard}, before: failed, want: run.StartPlan{Discards: "r1"}},
		"is refused after a failed run":                       {start: run.Start{OnFailed: run.Block}, before: failed, refused: "r1"},
		"is accepted after a failed run that was rewound":     {start: run.Start{OnFailed: run.Block}, before: run.Before{Failed: true}},
		"replaces a cancelled run":                            {start: run.Start{OnFailed: run.Block}, before: run.Before{Unfinished: "r1"}, want: run.StartPlan{Discards: "r1"}},
		"waits for an active run":                             {start: enqueuing, before: active, want: run.StartPlan{Enqueues: true}},
		"waits behind queued starts":                          {start: enqueuing, before: due, want: run.StartPlan{Enqueues: true}},
		"waits behind blocked starts":                         {start: enqueuing, before: blocked, want: run.StartPlan{Enqueues: true}},
		"does not wait in an idle session":                    {start: enqueuing, before: failed, want: run.StartPlan{Discards: "r1"}},
		"does not wait for a failed run to be resolved":       {start: run.Start{OnActive: run.Enqueue, OnFailed: run.Block}, before: failed, refused: "r1"},
		"is refused during an active run with others waiting": {before: behind, refused: "r1"},
		"is refused if a queued start is about to begin":      {before: due, refused: "q1"},
		"merges the active run and those that wait":           {start: merging, before: behind, want: run.StartPlan{Cancels: "r1", Discards: "r1", Takes: 4, Merges: queue}},
		"merges starts that are about to begin":               {start: merging, before: due, want: run.StartPlan{Discards: "r0", Takes: 2, TakesCount: 1, Merges: queue}},
		"goes before starts that wait behind a failed run":    {before: blocked, want: run.StartPlan{Discards: "r1"}},
		"merges nothing that waits behind a failed run":       {start: merging, before: blocked, want: run.StartPlan{Discards: "r1"}},
		"is refused by a failed run although others wait":     {start: run.Start{OnFailed: run.Block}, before: blocked, refused: "r1"},
		"takes over an input without a run":                   {before: run.Before{Failed: true, Unfinished: "r1", Pending: 2, PendingCount: 1}, want: run.StartPlan{Discards: "r1", Takes: 2, TakesCount: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.start.Plan(c.before)
			if c.refused != "" {
				mustConflict(t, err, c.refused)
			} else if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("plan (-want +got): %v\n%s", err, diff)
			}
		})
	}
}

func TestInputOf(t *testing.T) {
	t.Parallel()
	text := func(s string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"content": json.RawMessage(fmt.Sprintf("%q", s))}
	}
	stored := func(n int) []session.Event {
		out := make([]session.Event, n)
		for i := range out {
			out[i] = session.Event{ID: "e", Seq: int64(i), InvocationID: "r1", Author: "user", Fields: text("old")}
		}
		return out
	}
	start := run.Start{Ref: run.Ref{RunID: "r2"}, Input: []session.Event{{Author: "user", Fields: text("new")}}}
	merging := run.StartPlan{Cancels: "r1", Discards: "r1", Takes: 4}
	old := session.Event{Author: "user", InvocationID: "r2", Fields: text("old")}
	own := session.Event{Author: "user", InvocationID: "r2", Fields: text("new")}
	for name, c := range map[string]struct {
		plan  run.StartPlan
		taken []session.Event
		want  []session.Event
	}{
		"only its own":               {run.StartPlan{}, nil, []session.Event{own}},
		"accepted events come first": {merging, stored(2), []session.Event{old, old, own}},
		"only pending events":        {run.StartPlan{Takes: 4, TakesCount: 1}, stored(2), []session.Event{old, own}},
		"only existing events":       {run.StartPlan{Takes: 4, TakesCount: 3}, stored(1), []session.Event{old, own}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := start.InputOf(c.plan, c.taken)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("input (-want +got): %v\n%s", err, diff)
			}
		})
	}
	if id := start.Input[0].InvocationID; id != "" {
		t.Errorf("the caller's own event has become one of %s", id)
	}
	t.Run("as many events as may be merged", func(t *testing.T) {
		t.Parallel()
		if _, err := start.InputOf(merging, stored(run.MaxMerged-1)); err != nil {
			t.Error(err)
		}
		_, err := start.InputOf(merging, stored(run.MaxMerged))
		mustConflict(t, err, "r1")
	})
	t.Run("as many bytes as may be merged", func(t *testing.T) {
		t.Parallel()
		large := []session.Event{{Author: "user", Fields: text(strings.Repeat("x", session.PageBytes))}}
		_, err := start.InputOf(merging, large)
		mustConflict(t, err, "r1")
		if _, err := start.InputOf(run.StartPlan{Discards: "r1", Takes: 4}, large); err != nil {
			t.Errorf("nothing is cancelled for it: %v", err)
		}
	})
}

func TestAftermath(t *testing.T) {
	t.Parallel()
	lost, unstarted := &run.Problem{Code: run.CodeLost}, &run.Problem{Code: run.CodeStart}
	for name, c := range map[string]struct {
		ending run.Ending
		want   run.Aftermath
	}{
		"complete":                          {run.Ending{Status: run.Completed, Started: true, Taken: 2}, run.Aftermath{Status: session.Idle}},
		"cancelled":                         {run.Ending{Status: run.Cancelled, Taken: 2}, run.Aftermath{Status: session.Idle, Unfinished: true}},
		"failed":                            {run.Ending{Status: run.Failed, Problem: lost, Started: true, Taken: 2}, run.Aftermath{Status: session.Failed, Unfinished: true}},
		"failed before a worker claimed it": {run.Ending{Status: run.Failed, Problem: lost, Taken: 2}, run.Aftermath{Status: session.Failed, Unfinished: true, Pending: true}},
		"failed to start":                   {run.Ending{Status: run.Failed, Problem: unstarted, Started: true, Taken: 2}, run.Aftermath{Status: session.Failed, Unfinished: true, Pending: true}},
		"failed and is kept":                {run.Ending{Status: run.Failed, Problem: unstarted, Taken: 2, Keep: true}, run.Aftermath{Status: session.Failed, Kept: true}},
		"cancelled and is kept":             {run.Ending{Status: run.Cancelled, Taken: 2, Keep: true}, run.Aftermath{Status: session.Idle}},
		"failed to start without taking over events": {run.Ending{Status: run.Failed, Problem: unstarted}, run.Aftermath{Status: session.Failed, Unfinished: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.ending.Aftermath()); diff != "" {
				t.Errorf("aftermath (-want +got):\n%s", diff)
			}
		})
	}
}
