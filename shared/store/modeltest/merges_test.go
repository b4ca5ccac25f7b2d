package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/property"
	lifecycle "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// TestMerges lets callers cancel and merge the active run concurrently, in turns of
// one request each. Every accepted input is in the thread once, in the order of
// acceptance, however many callers there are and wherever one of them dies.
func TestMerges(t *testing.T) {
	t.Parallel()
	begin := newStage(t)
	s := limited(begin.engine)
	if _, err := s.Sessions.Create(t.Context(), session.New{ID: "s", UserID: runner, AppName: "app", Nonce: "s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Runs.Start(t.Context(), merged(first)); err != nil {
		t.Fatal(err)
	}
	if err := beginning().do(t.Context(), s, first); err != nil {
		t.Fatal(err)
	}
	begin.keep()
	t.Run("one during another, which dies or continues", func(t *testing.T) {
		n := number{all: 80, few: 80}
		n.times(t, func(t *testing.T, i int) {
			t.Helper()
			merging{begin.fresh(t)}.inTheMidst(t, i/2, i%2 == 1)
		})
	})
	t.Run("2, 3 and 6 in turns", func(t *testing.T) {
		n := number{all: 600, few: 12}
		n.times(t, func(t *testing.T, i int) {
			t.Helper()
			merging{begin.fresh(t)}.inTurns(t, []int{2, 3, 6}[i%3], property.Rand(t, i))
		})
	})
}

type merging struct{ *stage }

// merge is a start that merges; its input is named like the run.
func (m merging) merge(name string) *caller {
	return m.call(name, func(ctx context.Context, s *stores.Store) error {
		_, err := s.Runs.Start(ctx, merged(name))
		return err
	})
}

// merged is a start that merges. The runs of some callers are kept when others cancel
// them, which changes nothing for the inputs.
func merged(name string) lifecycle.Start {
	start := lifecycle.Start{
		Ref: refTo(name), Mode: lifecycle.Managed, OnActive: lifecycle.CancelAndMerge, OnFailed: lifecycle.Discard,
		Input: []session.Event{saying(name, name)},
	}
	if strings.Contains("bdf", name) {
		start.OnFailed = lifecycle.Keep
	}
	return start
}

// inTheMidst makes one merge after some requests of another.
func (m merging) inTheMidst(t *testing.T, at int, dies bool) {
	t.Helper()
	a := m.merge("a")
	a.turns(at)
	if dies {
		a.die()
	}
	b := m.merge("b")
	if err := b.finish(); err != nil {
		t.Errorf("merge after %d requests of another: %v", at, err)
	}
	_ = a.finish()
	m.holds(t, fmt.Sprintf("after %d requests, death: %t", at, dies), a, b)
}

// inTurns lets callers take turns at random; some die and repeat the start.
func (m merging) inTurns(t *testing.T, callers int, random *rand.Rand) {
	t.Helper()
	var all, at []*caller
	for i := range callers {
		all = append(all, m.merge(string(rune('a'+i))))
	}
	at = slices.Clone(all)
	var story strings.Builder
	for len(at) > 0 {
		i := random.IntN(len(at))
		switch c := at[i]; {
		case random.IntN(60) == 0:
			c.die()
			fmt.Fprintf(&story, "%s dies. ", c.name)
			if random.IntN(2) == 0 {
				at[i] = m.merge(c.name)
				all = append(all, at[i])
				continue
			}
			at = slices.Delete(at, i, i+1)
		case !c.turn():
			fmt.Fprintf(&story, "%s is over. ", c.name)
			at = slices.Delete(at, i, i+1)
		default:
			story.WriteString(c.name + " ")
		}
	}
	m.holds(t, story.String(), all...)
}

// holds checks that the thread has the inputs that were acknowledged, and each input
// that is in the log, once and in order.
func (m merging) holds(t *testing.T, what string, callers ...*caller) {
	t.Helper()
	all, err := m.store.Sessions.Events(t.Context(), runner, "s", session.EventQuery{View: session.All, Limit: session.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for n, e := range all.Events {
		if e.Seq != int64(n+1) {
			t.Errorf("%s: event %d is at position %d", what, n+1, e.Seq)
		}
		if text := textOf(e); text != "" && e.Author == "user" && !slices.Contains(want, text) {
			want = append(want, text)
		}
	}
	for _, c := range callers {
		if c.err == nil && !slices.Contains(want, c.name) {
			t.Errorf("%s: %s was accepted and is not in the log: %v", what, c.name, want)
		}
		if c.err != nil && !errors.Is(c.err, errDied) {
			t.Errorf("%s: %s: %v", what, c.name, c.err)
		}
	}
	th, err := m.store.Runs.Thread(t.Context(), runner, "s", lifecycle.ThreadQuery{Limit: session.DefaultPage})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range th.Items {
		if text := textOf(e); text != "" { // the item in progress has none yet
			got = append(got, text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the thread (-accepted +shown):\n%s", what, diff)
	}
	state, err := m.store.Sessions.State(t.Context(), runner, "s")
	if err != nil {
		t.Fatal(err)
	}
	for scope, of := range map[string]session.Values{"session": state.Session, "user": state.User} {
		if last := want[len(want)-1]; string(of["last"]) != string(mustJSON(last)) {
			t.Errorf("%s: the %s's state is of %s, want of %s", what, scope, of["last"], last)
		}
	}
	if th.Session.Status != session.InProgress {
		t.Errorf("%s: the session is %s: what was accepted has no run", what, th.Session.Status)
	}
	if n := slots(t, m.stage); n > 1+len(callers) {
		t.Errorf("%s: %d slots are taken", what, n)
	}
}

func textOf(e session.Event) string {
	var content struct {
		Parts []struct{ Text string }
	}
	if err := json.Unmarshal(e.Fields["content"], &content); err != nil || len(content.Parts) == 0 {
		return ""
	}
	return content.Parts[0].Text
}
