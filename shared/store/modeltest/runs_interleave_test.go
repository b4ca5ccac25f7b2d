package modeltest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	lifecycle "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	runner   = "runner"
	first    = "first" // the run that may exist before
	same     = "same"  // a run that the outer and the inner one may both start
	patience = 5 * time.Minute
	lease    = 24 * time.Hour // longer than any test
)

// act is an operation on a session with runs; who distinguishes what the inner and
// the outer one create.
type act struct {
	name string
	do   func(ctx context.Context, s *stores.Store, who string) error
	runs string // the run that it starts; anyone stands for who
	ends bool   // it deletes the session
}

// run returns the run that the act starts for who, "" for none.
func (a act) run(who string) string { return strings.Replace(a.runs, anyone, who, 1) }

// before is the state of a session before the acts.
type before struct {
	name    string
	prepare []act
}

// TestInterleavings_runs runs one operation on a session during another, before each
// of its requests, while runs begin and end. The loser of a race gets an error, no
// caller waits forever, and the result is consistent.
func TestInterleavings_runs(t *testing.T) {
	t.Parallel()
	var sets []set
	for _, b := range befores() {
		st := newStage(t)
		s := limited(st.engine)
		if _, err := s.Sessions.Create(t.Context(), session.New{ID: "s", UserID: runner, Nonce: "s"}); err != nil {
			t.Fatal(err)
		}
		for _, a := range append([]act{appending("one")}, b.prepare...) {
			if err := a.do(t.Context(), s, first); err != nil {
				t.Fatalf("%s: %s: %v", b.name, a.name, err)
			}
		}
		st.keep()
		for _, outer := range acts() {
			for _, inner := range acts() {
				what := fmt.Sprintf("%s: %s in the midst of %s", b.name, inner.name, outer.name)
				sets = append(sets, set{of: b.name + ", " + outer.name, first: 2, play: func(t *testing.T, at int) bool {
					t.Helper()
					return meet(t, what, st.fresh(t), outer, inner, at)
				}})
			}
		}
	}
	number{all: 5800, few: 380, every: 15}.play(t, sets)
}

// limited is a store whose users may have few active runs, which last longer than any
// test.
func limited(engine table.Engine) *stores.Store {
	return stores.New(engine, stores.WithCodec(storetest.Codec()), stores.WithQuotas(quota.Limits{Runs: 5}), stores.WithLease(lease))
}

// meet runs one operation before the at-th request of another; false if that makes
// fewer.
func meet(t *testing.T, what string, st *stage, outer, inner act, at int) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var innerErr error
	i := &interruption{at: at, run: func() { innerErr = inner.do(ctx, limited(st.engine), "inner") }}
	outerErr := outer.do(ctx, limited(i.on(st.engine)), "outer")
	if !i.reached() {
		return false
	}
	what = fmt.Sprintf("%s, before its request %d", what, at)
	for _, err := range []error{outerErr, innerErr} {
		if err != nil && !errors.Is(err, fault.Of(fault.Conflict)) && !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if outer.ends && outerErr == nil || inner.ends && innerErr == nil {
		if _, err := st.store.Sessions.Get(t.Context(), runner, "s"); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("%s: the deleted session reads as %v", what, err)
		}
		return true
	}
	started := map[string]bool{}
	if outerErr == nil {
		started[outer.run("outer")] = true
	}
	if innerErr == nil {
		started[inner.run("inner")] = true
	}
	agrees(t, what, st, started)
	return true
}

// agrees checks that session, runs, log and slots are consistent.
func agrees(t *testing.T, what string, st *stage, started map[string]bool) {
	t.Helper()
	th, err := st.store.Runs.Thread(t.Context(), runner, "s", lifecycle.ThreadQuery{Limit: session.DefaultPage})
	if err != nil {
		t.Errorf("%s: the thread: %v", what, err)
		return
	}
	active := ""
	if th.Session.ActiveRunID != nil {
		active = *th.Session.ActiveRunID
	}
	if (active != "") != (th.Session.Status == session.InProgress) {
		t.Errorf("%s: the session is %s with the active run %q", what, th.Session.Status, active)
	}
	for _, id := range []string{first, "outer", "inner", same} {
		r, err := st.store.Runs.Run(t.Context(), refTo(id))
		switch {
		case errors.Is(err, fault.Of(fault.NotFound)) && !started[id] && id != active:
		case err != nil:
			t.Errorf("%s: run %s: %v", what, id, err)
		case r.Status == lifecycle.Waiting && id != active:
			if th.Queue.Find(refTo(id)) == nil {
				t.Errorf("%s: run %s is queued, and the thread does not show it", what, id)
			}
		case r.Status.Final() == (id == active):
			t.Errorf("%s: run %s is %s, and the active one is %q", what, id, r.Status, active)
		}
	}
	if id := storetest.RunItem(t, st.engine); id != active {
		t.Errorf("%s: there is an item of the run %q, and the active run is %q", what, id, active)
	}
	if n := slots(t, st); n > 1 || (n == 1) != (active != "") {
		t.Errorf("%s: %d slots are taken, and the active run is %q", what, n, active)
	}
	page, err := st.store.Sessions.Events(t.Context(), runner, "s", session.EventQuery{View: session.All, Limit: session.MaxPage})
	if err != nil {
		t.Errorf("%s: the log: %v", what, err)
	}
	for n, e := range page.Events {
		if e.Seq != int64(n+1) {
			t.Errorf("%s: event %d of the log has position %d", what, n+1, e.Seq)
			return
		}
	}
	shutOut(t, what, page.Events)
	discards(t, what, page.Events)
}

// discards checks that each discard in a log cuts before the input of its run: not before
// what others had appended to the run's invocation.
func discards(t *testing.T, what string, log []session.Event) {
	t.Helper()
	first := func(is func(session.Event) bool) int64 { return int64(slices.IndexFunc(log, is)) + 1 }
	for _, e := range log {
		run, ok := strings.CutPrefix(e.InvocationID, "discard-")
		if !ok {
			continue
		}
		var actions struct {
			Seq int64 `json:"rewind_before_seq"`
		}
		if err := json.Unmarshal(e.Fields["actions"], &actions); err != nil {
			t.Errorf("%s: the marker %d: %v", what, e.Seq, err)
		}
		cut := cmp.Or(actions.Seq, first(func(e session.Event) bool { return e.InvocationID == run }))
		input := first(func(e session.Event) bool {
			return e.InvocationID == run && !strings.Contains(string(e.Fields["content"]), appended)
		})
		if cut != input {
			t.Errorf("%s: the discard at %d cuts before %d, and its run began at %d", what, e.Seq, cut, input)
		}
	}
}

// slots counts the occupied slots of the user's quota of runs.
func slots(t *testing.T, st *stage) int {
	t.Helper()
	use, _, err := st.engine.Get(t.Context(), table.NewKey("Q#"+runner, "USE"), table.Reading{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	taken, ok := use["r"].(*types.AttributeValueMemberM)
	if !ok {
		return 0
	}
	return len(taken.Value)
}

func refTo(id string) lifecycle.Ref { return lifecycle.Ref{UserID: runner, SessionID: "s", RunID: id} }

func said(invocation string) session.Event {
	return session.Event{
		InvocationID: invocation, Author: "user",
		Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"parts":[{"text":"hi"}]}`)},
	}
}
