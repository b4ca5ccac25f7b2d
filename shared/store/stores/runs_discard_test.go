package stores_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// discarding is a session with a run whose invocation was in the log before it began.
type discarding struct {
	s  *stores.Store
	id string
}

// append appends an event to each invocation, which sets the state to its text.
func (d *discarding) append(t *testing.T, invocations ...string) {
	t.Helper()
	for _, id := range invocations {
		mustAppend(t, d.s, alice, d.id, setting(t, id, "appended to "+id))
	}
}

func (d *discarding) start(t *testing.T, active run.OnActive) {
	t.Helper()
	start := startOf(t, d.id, "r1", "")
	start.OnActive, start.Input = active, []session.Event{setting(t, "ignored", "question")}
	mustStart(t, d.s, start)
}

func setting(t *testing.T, invocation, text string) session.Event {
	t.Helper()
	return parse(t, map[string]any{
		"invocation_id": invocation, "author": "user", "content": map[string]any{"parts": []any{map[string]any{"text": text}}},
		"actions": map[string]any{"state_delta": map[string]any{"last": text}},
	})
}

// wantShown checks the texts of the thread, and the state.
func (d *discarding) wantShown(t *testing.T, last string, want ...string) {
	t.Helper()
	var got []string
	for _, text := range texts(mustThread(t, d.s, d.id).Items) {
		_, text, _ = strings.Cut(text, ":")
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the thread (-want +got):\n%s", diff)
	}
	state, err := d.s.Sessions.State(t.Context(), alice, d.id)
	if err != nil || string(state.Session["last"]) != `"`+last+`"` {
		t.Errorf("the state is %s, %v, want %q", state.Session["last"], err, last)
	}
}

// wantMarker checks that the log says where it was cut.
func (d *discarding) wantMarker(t *testing.T) {
	t.Helper()
	log := mustEvents(t, d.s, alice, d.id, session.EventQuery{View: session.All})
	is := func(invocation, text string) int {
		return slices.IndexFunc(log, func(e session.Event) bool {
			return e.InvocationID == invocation && strings.Contains(string(e.Fields["content"]), text)
		})
	}
	input, marker := is("r1", "question"), is("discard-r1", "rewound")
	if input < 0 || marker < 0 {
		t.Fatalf("the input is at %d and the marker at %d", input, marker)
	}
	var actions struct {
		Before string `json:"rewind_before_invocation_id"`
		Seq    int64  `json:"rewind_before_seq"`
	}
	if err := json.Unmarshal(log[marker].Fields["actions"], &actions); err != nil {
		t.Fatal(err)
	}
	if actions.Before != "r1" || actions.Seq != log[input].Seq {
		t.Errorf("the marker says %+v, want r1 and %d", actions, log[input].Seq)
	}
}

// A discard takes away what came with its run and after it, not what was appended to the
// run's invocation before, nor what came in between, however the run began and ended.
func TestDiscard_of_a_run_whose_invocation_was_in_the_log(t *testing.T) {
	t.Parallel()
	begun := map[string]func(*testing.T, *discarding) []string{
		"at once": func(t *testing.T, d *discarding) []string {
			t.Helper()
			d.append(t, "r1")
			d.start(t, run.Reject)
			return []string{"appended to r1"}
		},
		"after others": func(t *testing.T, d *discarding) []string {
			t.Helper()
			d.append(t, "r1", "b", "r1", "c")
			d.start(t, run.Reject)
			return []string{"appended to r1", "appended to b", "appended to r1", "appended to c"}
		},
		"while it was queued": func(t *testing.T, d *discarding) []string {
			t.Helper()
			mustStart(t, d.s, startOf(t, "s", "r0", "first"))
			d.start(t, run.Enqueue)
			d.append(t, "r1", "b")
			mustEnd(t, d.s, refOf("s", "r0"), run.Completed, nil)
			if r, err := d.s.Runs.StartQueued(t.Context(), alice, "s"); err != nil || r.ID != "r1" {
				t.Fatalf("started %v, %v", r, err)
			}
			return []string{"first", "appended to r1", "appended to b"}
		},
		"in a fork that took over its invocation": func(t *testing.T, d *discarding) []string {
			t.Helper()
			d.append(t, "r1", "b")
			mustFork(t, d.s, "s", "f", nil)
			d.id = "f"
			d.append(t, "c")
			d.start(t, run.Reject)
			return []string{"appended to r1", "appended to b", "appended to c"}
		},
	}
	cases := 0
	for how, begin := range begun {
		for _, end := range []run.Status{run.Failed, run.Cancelled, run.InProgress} {
			cases++
			t.Run(how+", "+string(end), func(t *testing.T) {
				t.Parallel()
				d := &discarding{id: "s", s: newStore(t)}
				mustCreate(t, d.s, alice, "s", nil)
				before := begin(t, d)
				if _, err := d.s.Runs.Claim(t.Context(), refOf(d.id, "r1"), run.Claimant{Worker: "worker"}); err != nil {
					t.Fatal(err)
				}
				mustFlush(t, mustBegin(t, d.s, refOf(d.id, "r1"), ""), "an answer")
				next, last := startOf(t, d.id, "r2", "next"), before[len(before)-1]
				if end == run.InProgress {
					next.OnActive, last = run.CancelAndMerge, "question"
					before = append(before, "question")
				} else {
					mustEnd(t, d.s, refOf(d.id, "r1"), end, nil)
				}
				mustStart(t, d.s, next)
				d.wantShown(t, last, append(before, "next")...)
				d.wantMarker(t)
			})
		}
	}
	if cases < 12 {
		t.Errorf("%d cases, want at least 12", cases)
	}
}
