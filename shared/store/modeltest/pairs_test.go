package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	lifecycle "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// TestPairs lets two callers operate on one session concurrently: each pair of
// operations, the second as a whole before each request of the first. The result and
// both answers must be those of executing one after the other, in either order. The
// model is the store itself, with one operation at a time, which the other tests of
// this package compare with a model.
func TestPairs(t *testing.T) {
	t.Parallel()
	var sets []set
	pairs := map[string]bool{}
	for _, setting := range []string{"idle", "at work"} {
		p := newPairing(t, setting)
		for i, outer := range p.acts {
			for j, inner := range p.acts {
				pairs[fmt.Sprint(setting, min(i, j), max(i, j))] = true
				var orders []outcome
				sets = append(sets, set{of: setting + ", " + outer.name, first: 1, play: func(t *testing.T, at int) bool {
					t.Helper()
					if orders == nil {
						orders = p.orders(t, outer, inner)
					}
					return p.meet(t, orders, outer, inner, at)
				}})
			}
		}
	}
	number{all: 182, few: 182}.tell(t, len(pairs), "pairs")
	number{all: 2800, few: 150, every: 15}.play(t, sets)
}

// pairing is a session in a setting, and the outcome.
type pairing struct {
	*stage
	setting string
	acts    []act
}

// outcome is the result of two operations, and their answers.
type outcome struct {
	Outer, Inner string
	Session      any
	Said         []string
	State        session.State
	Tasks        []string
	Shares       []string
	Forks        map[string][]string
	Runs         map[string]string
}

func newPairing(t *testing.T, setting string) *pairing {
	t.Helper()
	p := &pairing{stage: newStage(t), setting: setting}
	s := limited(p.engine)
	if _, err := s.Sessions.Create(t.Context(), session.New{ID: "s", UserID: runner, AppName: "app", Nonce: "s"}); err != nil {
		t.Fatal(err)
	}
	for _, invocation := range []string{"one", "two"} {
		if _, _, err := s.Sessions.Append(t.Context(), session.Append{
			UserID: runner, SessionID: "s", Events: []session.Event{saying("in "+invocation, invocation)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	document := exported(t, s)
	if _, err := s.Shares.Share(t.Context(), access.NewShare{
		ID: shareID, OwnerID: runner, SessionID: "s", Right: access.Read, UserID: "guest",
	}); err != nil {
		t.Fatal(err)
	}
	prepare := map[string][]act{
		"at work": {startingAs("start", lifecycle.Reject), beginning()},
		"lost":    {startingAs("start", lifecycle.Reject), losing(), beginning()},
	}
	for _, a := range prepare[setting] {
		if err := a.do(t.Context(), s, first); err != nil {
			t.Fatal(err)
		}
	}
	p.keep()
	p.acts = pairActs(t, document)
	return p
}

// meet runs one operation as a whole before the at-th request of another; false if
// that makes fewer.
func (p *pairing) meet(t *testing.T, orders []outcome, outer, inner act, at int) bool {
	t.Helper()
	st := p.fresh(t)
	ctx, cancel := context.WithTimeout(t.Context(), waiting)
	defer cancel()
	var innerErr error
	i := &interruption{at: at, run: func() { innerErr = inner.do(ctx, limited(st.engine), "inner") }}
	outerErr := outer.do(ctx, limited(i.on(st.engine)), "outer")
	if !i.reached() {
		return false
	}
	got := outcomeOn(t, st, outerErr, innerErr)
	var differ string
	for _, want := range orders {
		d := cmp.Diff(want, got)
		if d == "" {
			return true
		}
		differ += d + "\n"
	}
	t.Errorf("%s: %s before request %d of %s: as neither order (-one after the other +at once)\n%s",
		p.setting, inner.name, at, outer.name, differ)
	return true
}

// orders returns the outcomes of two operations one after the other.
func (p *pairing) orders(t *testing.T, outer, inner act) []outcome {
	t.Helper()
	st := p.fresh(t)
	outerErr := outer.do(t.Context(), limited(st.engine), "outer")
	innerErr := inner.do(t.Context(), limited(st.engine), "inner")
	outerFirst := outcomeOn(t, st, outerErr, innerErr)
	st = p.fresh(t)
	innerErr = inner.do(t.Context(), limited(st.engine), "inner")
	outerErr = outer.do(t.Context(), limited(st.engine), "outer")
	return []outcome{outerFirst, outcomeOn(t, st, outerErr, innerErr)}
}

func outcomeOn(t *testing.T, st *stage, outerErr, innerErr error) outcome {
	t.Helper()
	o := outcome{Outer: outcomeOf(t, outerErr), Inner: outcomeOf(t, innerErr), Forks: map[string][]string{}, Runs: map[string]string{}}
	for _, id := range []string{"fork of outer", "fork of inner"} {
		if page, err := st.store.Sessions.Events(t.Context(), runner, id, everything(session.Effective)); err == nil {
			o.Forks[id] = append([]string{"a fork"}, texts(page.Events)...)
			folds(t, st, id, page.Events)
		}
	}
	s, err := st.store.Sessions.Get(t.Context(), runner, "s")
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return o
	}
	mustSee(t, err)
	active := ""
	if s.ActiveRunID != nil {
		active = *s.ActiveRunID
	}
	o.Session = []string{string(s.Status), active}
	th, err := st.store.Runs.Thread(t.Context(), runner, "s", lifecycle.ThreadQuery{Limit: session.DefaultPage})
	mustSee(t, err)
	o.Said = texts(th.Items)
	folds(t, st, "s", th.Items)
	o.State, err = st.store.Sessions.State(t.Context(), runner, "s")
	mustSee(t, err)
	all, err := st.store.Sessions.Events(t.Context(), runner, "s", everything(session.All))
	mustSee(t, err)
	for n, e := range all.Events {
		if e.Seq != int64(n+1) {
			t.Errorf("event %d of the log is at position %d", n+1, e.Seq)
		}
	}
	tasks, err := st.store.Tasks.Tasks(t.Context(), task.Query{SessionID: "s", UserID: runner, Limit: 10})
	mustSee(t, err)
	for _, k := range tasks.Tasks {
		o.Tasks = append(o.Tasks, string(k.Bubbles))
	}
	shares, err := st.store.Shares.Shares(t.Context(), runner, "s")
	mustSee(t, err)
	for _, sh := range shares {
		o.Shares = append(o.Shares, sh.ID)
	}
	slices.Sort(o.Shares)
	for _, id := range []string{first, "outer", "inner"} {
		if r, err := st.store.Runs.Run(t.Context(), refTo(id)); err == nil {
			o.Runs[id] = fmt.Sprint(r.Status, " after ", r.Continuations, " continuations")
		}
	}
	return o
}

// folds checks that a session's own state is the result of its events.
func folds(t *testing.T, st *stage, id string, events []session.Event) {
	t.Helper()
	fold := session.Values{}
	for _, e := range events {
		fold.Apply(e.StateDelta.In(session.ScopeSession))
	}
	state, err := st.store.Sessions.State(t.Context(), runner, id)
	mustSee(t, err)
	if diff := cmp.Diff(map[string]json.RawMessage(fold), map[string]json.RawMessage(state.Session)); diff != "" {
		t.Errorf("the state of %s (-its events +stored):\n%s", id, diff)
	}
}

func everything(view session.View) session.EventQuery {
	return session.EventQuery{View: view, Limit: session.MaxPage}
}

func texts(events []session.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprintf("%s %s %s", e.InvocationID, textOf(e), e.Status))
	}
	return out
}

// outcomeOf returns a caller's answer: success, or the kind of fault.
func outcomeOf(t *testing.T, err error) string {
	t.Helper()
	var f *fault.Error
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &f):
		return fmt.Sprint("fault ", f.Kind)
	}
	t.Errorf("no fault: %v", err)
	return err.Error()
}

func mustSee(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
