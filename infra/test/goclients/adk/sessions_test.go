package adk_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	adksession "google.golang.org/adk/v2/session"

	"github.com/rethread/rethread/clients/go/adk"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	t.Run("the initial state is readable and not an event", func(t *testing.T) {
		made := s.mustCreate(t, alice, "begun", map[string]any{"k": "v", "user:u": 1.0, "app:a": true, "temp:t": "x"})
		want := map[string]any{"k": "v", "user:u": 1.0, "app:a": true}
		got := s.mustGet(t, "begun")
		if diff := cmp.Diff(want, stateOf(got)); diff != "" || got.Events().Len() != 0 {
			t.Errorf("%d events, state (-want +got):\n%s", got.Events().Len(), diff)
		}
		want["temp:t"] = "x"
		if diff := cmp.Diff(want, stateOf(made)); diff != "" {
			t.Errorf("as created (-want +got):\n%s", diff)
		}
	})
	t.Run("an event like the initial state is an event if a runner appended it", func(t *testing.T) {
		to := s.mustCreate(t, alice, "from the system", nil)
		change := changing("i", map[string]any{"k": "v"})
		change.Author = "system"
		s.mustAppend(t, to, change)
		if got := s.mustGet(t, "from the system").Events().Len(); got != 1 {
			t.Errorf("%d events, want 1", got)
		}
	})
	t.Run("an appended event is applied to the copy as to the stored session", func(t *testing.T) {
		to := s.mustCreate(t, alice, "at hand", map[string]any{"gone": 1.0, "user:u": nil, "app:a": nil})
		s.mustAppend(t, to, changing("i", map[string]any{"k": "v", "gone": nil, "temp:t": "x"}))
		if v, err := to.State().Get("temp:t"); err != nil || v != "x" {
			t.Errorf("temporary state: %v, %v", v, err)
		}
		if _, ok := to.Events().At(0).Actions.StateDelta["temp:t"]; ok {
			t.Error("temporary state is in the event")
		}
		again := s.mustGet(t, "at hand")
		want := stateOf(to)
		delete(want, "temp:t")
		if diff := cmp.Diff(want, stateOf(again)); diff != "" {
			t.Errorf("state (-copy +read again):\n%s", diff)
		}
		if _, err := again.State().Get("gone"); !errors.Is(err, adksession.ErrStateKeyNotExist) {
			t.Errorf("a deleted key: %v", err)
		}
		if !to.LastUpdateTime().Equal(to.Events().At(0).Timestamp) || again.LastUpdateTime().IsZero() {
			t.Errorf("updated %s, %s", to.LastUpdateTime(), again.LastUpdateTime())
		}
	})
	t.Run("an id that no session can have is that of a missing one", func(t *testing.T) {
		for _, id := range []string{".", "..", "a/b", strings.Repeat("x", 129), "a\nb", "\xff"} {
			if _, err := s.Sessions.Create(t.Context(), &adksession.CreateRequest{AppName: app, UserID: alice, SessionID: id}); !errors.Is(err, adk.ErrInvalid) {
				t.Errorf("create %q: %v", id, err)
			}
			if _, err := s.Sessions.Get(t.Context(), &adksession.GetRequest{AppName: app, UserID: alice, SessionID: id}); !errors.Is(err, adk.ErrNotFound) {
				t.Errorf("get %q: %v", id, err)
			}
			if err := s.Sessions.Delete(t.Context(), &adksession.DeleteRequest{AppName: app, UserID: alice, SessionID: id}); err != nil {
				t.Errorf("delete %q: %v", id, err)
			}
		}
	})
	t.Run("returns only the newest events, in order", func(t *testing.T) {
		to := s.mustCreate(t, alice, "recent", map[string]any{"k": "v"})
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i, invocation := range []string{"i-0", "i-1", "i-2", "i-3"} {
			e := changing(invocation, nil)
			e.Timestamp = at.Add(time.Duration(i) * time.Second)
			s.mustAppend(t, to, e)
		}
		for _, c := range []struct {
			recent int
			after  time.Time
			want   []string
		}{
			{2, time.Time{}, []string{"i-2", "i-3"}},
			{9, time.Time{}, []string{"i-0", "i-1", "i-2", "i-3"}},
			{0, at.Add(time.Second), []string{"i-1", "i-2", "i-3"}},
			{3, at.Add(2 * time.Second), []string{"i-2", "i-3"}},
			{0, at.Add(time.Hour), []string{}},
		} {
			got, err := s.Sessions.Get(t.Context(), &adksession.GetRequest{
				AppName: app, UserID: alice, SessionID: "recent", NumRecentEvents: c.recent, After: c.after,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, invocations(got.Session)); diff != "" {
				t.Errorf("%d after %s (-want +got):\n%s", c.recent, c.after, diff)
			}
		}
	})
	t.Run("a session of another app is not found", func(t *testing.T) {
		s.mustCreate(t, bob, "bob's", nil)
		other := &adksession.GetRequest{AppName: "another", UserID: bob, SessionID: "bob's"}
		if _, err := s.Sessions.Get(t.Context(), other); !errors.Is(err, adk.ErrNotFound) {
			t.Errorf("get: %v", err)
		}
		gone := &adksession.DeleteRequest{AppName: "another", UserID: bob, SessionID: "bob's"}
		if err := s.Sessions.Delete(t.Context(), gone); err != nil {
			t.Errorf("delete: %v", err)
		}
		listed, err := s.Sessions.List(t.Context(), &adksession.ListRequest{AppName: app, UserID: bob})
		if err != nil || len(listed.Sessions) != 1 || listed.Sessions[0].ID() != "bob's" {
			t.Errorf("list: %v, %v", listed, err)
		}
	})
	t.Run("a list includes state", func(t *testing.T) {
		s.mustCreate(t, "carol", "carol's", map[string]any{"k": "v", "user:u": "w"})
		listed, err := s.Sessions.List(t.Context(), &adksession.ListRequest{AppName: app, UserID: "carol"})
		if err != nil || len(listed.Sessions) != 1 {
			t.Fatalf("%v, %v", listed, err)
		}
		if v, err := listed.Sessions[0].State().Get("user:u"); err != nil || v != "w" {
			t.Errorf("%v, %v", v, err)
		}
	})
	t.Run("rejects missing and duplicate ids", func(t *testing.T) {
		for name, err := range map[string]error{
			"create": second(s.Sessions.Create(t.Context(), &adksession.CreateRequest{AppName: app})),
			"get":    second(s.Sessions.Get(t.Context(), &adksession.GetRequest{AppName: app, UserID: alice})),
			"list":   second(s.Sessions.List(t.Context(), &adksession.ListRequest{UserID: alice})),
			"delete": s.Sessions.Delete(t.Context(), &adksession.DeleteRequest{AppName: app, SessionID: "x"}),
			"append": s.Sessions.AppendEvent(t.Context(), nil, changing("i", nil)),
		} {
			if !errors.Is(err, adk.ErrMalformed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		s.mustCreate(t, alice, "taken", nil)
		_, err := s.Sessions.Create(t.Context(), &adksession.CreateRequest{AppName: app, UserID: alice, SessionID: "taken"})
		if !errors.Is(err, adk.ErrConflict) {
			t.Errorf("create again: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestListOfAllUsersRequiresWithUsers(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	unnamed := newServices(t, s.url)
	_, err := unnamed.Sessions.List(t.Context(), &adksession.ListRequest{AppName: app})
	if !errors.Is(err, adk.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
