package stores_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// keyed is an append of a request with an idempotency key.
func keyed(t *testing.T, id, name string, sent ...string) session.Append {
	t.Helper()
	a := session.Append{SessionID: id, UserID: alice, Keyed: &session.Keyed{Name: name}}
	for i, text := range sent {
		invocation, own := text[:1], ""
		if len(text) > 3 {
			own = text
		}
		a.Events = append(a.Events, event(t, own, invocation, text))
		derived := ""
		if own == "" {
			derived = uuid.NewSHA1(uuid.NameSpaceOID, fmt.Append(nil, name, i)).String()
		}
		a.Keyed.IDs = append(a.Keyed.IDs, derived)
	}
	return a
}

func findOnly(a session.Append) session.Append {
	k := *a.Keyed
	k.FindOnly = true
	a.Keyed = &k
	return a
}

// send appends a copy of the batch: Append fills in what the store sets.
func send(t *testing.T, s *stores.Store, a session.Append) (appended int, err error) {
	t.Helper()
	a.Events = slices.Clone(a.Events)
	_, appended, err = s.Sessions.Append(t.Context(), a)
	return appended, err
}

func TestKeyedAppend(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	mustCreate(t, s, alice, "s", nil)
	batches := []session.Append{
		keyed(t, "s", "k1", "a 1", "a 2"), // begins its invocation
		keyed(t, "s", "k2", "a 3", "b 1"), // continues it
		keyed(t, "s", "k3", "a 4"),        // returns to it
		keyed(t, "s", "k4", "c 1"),
		keyed(t, "s", "k5", "c 1"), // the same text is another event
	}
	for _, a := range batches {
		if _, err := send(t, s, findOnly(a)); !errors.Is(err, session.ErrNotAppended) {
			t.Errorf("%s was found before it was sent: %v", a.Keyed.Name, err)
		}
		if n, err := send(t, s, a); err != nil || n != len(a.Events) {
			t.Errorf("%s: %d appended, %v", a.Keyed.Name, n, err)
		}
	}
	for _, a := range batches {
		if n, err := send(t, s, findOnly(a)); err != nil || n != 0 {
			t.Errorf("find %s: %d appended, %v", a.Keyed.Name, n, err)
		}
		if n, err := send(t, s, a); err != nil || n != 0 {
			t.Errorf("%s again: %d appended, %v", a.Keyed.Name, n, err)
		}
	}
	all := mustEvents(t, s, alice, "s", session.EventQuery{})
	if len(all) != 7 {
		t.Errorf("%d events, want 7", len(all))
	}
	redelivered(t, s, event(t, all[3].ID, "b", "b 1")) // sent by the id that it was answered with
	if got := claims(t, engine); !slices.Equal(got, []string{"k2", "k3", "k5"}) {
		t.Errorf("claims %v", got)
	}
}

// The same request twice, the second between any two requests of the first or after it
// stopped there, is carried out once.
func TestKeyedAppend_twice_at_any_time(t *testing.T) {
	t.Parallel()
	engine, cases := storetest.Engine(t), 0
	runs := storetest.Sample(t, 8)
	befores := [][]string{nil, {"a 0"}, {"a 0", "b 0"}, {"a.1x"}}
	for _, sent := range [][]string{{"a 1"}, {"a 1", "a 2"}, {"a 1", "b 2"}, {"a 1", "a.8x", "a 2"}} {
		for _, before := range befores {
			for _, other := range []bool{false, true} {
				for _, dies := range []bool{false, true} {
					if !runs() {
						continue
					}
					for nth, more := 1, true; more; nth++ {
						cases++
						more = keyedTwice(t, engine, fmt.Sprint("s", cases), sent, before, other, dies, nth)
					}
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	if least := map[bool]int{true: 300, false: 30}[storetest.InMemory()]; cases < least {
		t.Errorf("only %d cases", cases)
	}
}

func keyedTwice(t *testing.T, engine table.Engine, id string, sent, before []string, other, dies bool, nth int) bool {
	t.Helper()
	name := fmt.Sprintf("%v after %v, other %v, dies %v, before request %d", sent, before, other, dies, nth)
	plain := stores.New(engine)
	mustCreate(t, plain, alice, id, nil)
	for _, text := range before {
		mustAppend(t, plain, alice, id, event(t, "", text[:1], text))
	}
	a := keyed(t, id, "k", sent...)
	again := func() {
		if other {
			mustAppend(t, plain, alice, id, event(t, "", "c", "in between"))
		}
		if _, err := send(t, plain, a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	reached, calls := false, 0
	died := errors.New("the process died")
	wrapped := storetest.Before(engine, func(_ context.Context, c hooks.Call) error {
		if readsNewest(c) {
			return nil
		}
		calls++
		switch {
		case reached && dies:
			return died
		case calls == nth:
			reached = true
			if dies {
				return died
			}
			again()
		}
		return nil
	})
	if _, err := send(t, stores.New(wrapped), a); err != nil && !dies {
		t.Errorf("%s: %v", name, err)
	}
	if !reached {
		return false
	}
	again()
	if n, err := send(t, plain, a); n != 0 || err != nil {
		t.Errorf("%s: a repeat appends %d, %v", name, n, err)
	}
	count := map[string]int{}
	for _, e := range mustEvents(t, plain, alice, id, session.EventQuery{}) {
		_, text, _ := strings.Cut(texts([]session.Event{e})[0], ":")
		count[text]++
	}
	for _, text := range sent {
		if count[text] != 1 {
			t.Errorf("%s: %q is stored %d times", name, text, count[text])
		}
	}
	return true
}
