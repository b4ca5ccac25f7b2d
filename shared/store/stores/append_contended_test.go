package stores_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// outrun is a store that calls faster before each put of an entry.
func outrun(engine table.Engine, faster func(), opts ...stores.Option) *stores.Store {
	return before(engine, func(_ context.Context, c hooks.Call) error {
		if putsEntry(c) {
			faster()
		}
		return nil
	}, opts...)
}

func TestAppend_against_faster_writers(t *testing.T) {
	t.Parallel()
	t.Run("is refused after four seconds, with a time to wait", func(t *testing.T) {
		t.Parallel()
		engine, began, ahead := storetest.Engine(t), time.Now(), time.Duration(0)
		plain := stores.New(engine)
		mustCreate(t, plain, alice, "s", nil)
		losses := 0
		s := outrun(engine, func() {
			losses++
			ahead += 900 * time.Millisecond
			mustAppend(t, plain, alice, "s", event(t, "", "a", fmt.Sprint("faster ", losses)))
		}, stores.WithClock(func() time.Time { return began.Add(ahead) }))
		_, n, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{event(t, "x", "a", "slow")}})
		var refusal *fault.Error
		if !errors.As(err, &refusal) || refusal.Kind != fault.Busy || refusal.RetryAfter < time.Second {
			t.Errorf("%d appended, %v; want Busy with a time to wait", n, err)
		}
		if losses != 5 {
			t.Errorf("%d attempts, want 5: the last one begins before four seconds are over", losses)
		}
		if got := len(mustEvents(t, plain, alice, "s", session.EventQuery{})); got != losses {
			t.Errorf("%d events are stored, want those of the faster writer, %d", got, losses)
		}
		mustAppend(t, plain, alice, "s", event(t, "x", "a", "slow"))
	})
	t.Run("reads what came between in one request", func(t *testing.T) {
		t.Parallel()
		engine, began := storetest.Engine(t), time.Now()
		plain, meter := stores.New(engine), &capacity.Meter{}
		mustCreate(t, plain, alice, "s", nil)
		mustAppend(t, plain, alice, "s", event(t, "", "a", "first"))
		const losses, between = 2, 20
		lost := 0
		s := outrun(meter.Around(engine), func() {
			if lost++; lost > losses {
				return
			}
			for n := range between {
				mustAppend(t, plain, alice, "s", event(t, "", "a", fmt.Sprint(n)))
			}
		}, stores.WithClock(func() time.Time { return began })) // it has all the time
		mustAppend(t, s, alice, "s", event(t, "", "a", "last"))
		if u, most := meter.Total(), 4+2*losses; u.Requests > most {
			t.Errorf("%d requests, want %d: the header, the list, the head and the put, and two more for each loss", u.Requests, most)
		}
	})
}

// What an instance remembers of a session is not that of another one with its id.
func TestAppend_remembered_header(t *testing.T) {
	t.Parallel()
	add := func(t *testing.T, s *stores.Store, user, text string) error {
		t.Helper()
		_, _, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: user, Events: []session.Event{event(t, "", "a", text)}})
		return err
	}
	engine := storetest.Engine(t)
	other, meter := stores.New(engine), &capacity.Meter{}
	s := stores.New(meter.Around(engine))
	mustCreate(t, other, alice, "s", nil)
	if err := add(t, s, alice, "one"); err != nil {
		t.Fatal(err)
	}
	before := meter.Total()
	if err := add(t, s, alice, "two"); err != nil {
		t.Fatal(err)
	}
	if u := meter.Total().Sub(before); u.Requests > 3 {
		t.Errorf("the second append made %d requests", u.Requests)
	}
	if err := add(t, s, bob, "not his"); !errors.Is(err, fault.Of(fault.Forbidden)) {
		t.Errorf("another user's append: %v", err)
	}
	if err := other.Sessions.Delete(t.Context(), alice, "s"); err != nil {
		t.Fatal(err)
	}
	if err := add(t, s, alice, "too late"); !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("an append after the deletion: %v", err)
	}
	mustCreate(t, other, bob, "s", nil)
	if err := add(t, s, alice, "not hers"); !errors.Is(err, fault.Of(fault.Forbidden)) {
		t.Errorf("an append to the session of another user: %v", err)
	}
	if err := add(t, s, bob, "again"); err != nil {
		t.Error(err)
	}
	if err := other.Sessions.Delete(t.Context(), bob, "s"); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, other, bob, "s", nil)
	if err := add(t, s, bob, "a third"); err != nil {
		t.Error(err)
	}
	if got := len(mustEvents(t, other, bob, "s", session.EventQuery{View: session.All})); got != 1 {
		t.Errorf("the new session has %d events, want 1", got)
	}
}
