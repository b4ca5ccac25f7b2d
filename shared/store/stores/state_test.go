package stores_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

func TestState(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "one", session.Delta{
		"count": []byte("0"), "user:lang": []byte(`"en"`), "app:v": []byte("1"), "temp:x": []byte("1"), "gone": []byte("null"),
	})
	mustAppend(t, s, alice, "one", stateEvent(t, "i2", map[string]any{
		"count": nil, "user:lang": "fr", "nested": map[string]any{"a": nil}, "temp:y": 2, "zero": 0,
	}))
	mustCreate(t, s, alice, "two", nil)
	mustCreate(t, s, bob, "his", nil)

	for name, tc := range map[string]struct{ user, id, want string }{
		"all scopes together":                               {alice, "one", `{"app:v":1,"nested":{"a":null},"user:lang":"fr","zero":0}`},
		"another session of the user's shares user and app": {alice, "two", `{"app:v":1,"user:lang":"fr"}`},
		"another user shares app":                           {bob, "his", `{"app:v":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, merged(t, s, tc.user, tc.id)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	t.Run("temporary keys are not in the log", func(t *testing.T) {
		t.Parallel()
		for _, e := range mustEvents(t, s, alice, "one", session.EventQuery{}) {
			if strings.Contains(string(e.Fields["actions"]), "temp:") {
				t.Errorf("event %d holds %s", e.Seq, e.Fields["actions"])
			}
		}
	})

	t.Run("a state that grows too large is refused", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "big", nil)
		_, _, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "big", UserID: alice, Events: []session.Event{
			stateEvent(t, "i", map[string]any{"k": strings.Repeat("x", session.MaxState)}),
		}})
		if !errors.Is(err, fault.Of(fault.TooLarge)) {
			t.Errorf("got %v, want too large", err)
		}
		if got := merged(t, s, alice, "big"); strings.Contains(got, "xxx") {
			t.Error("the state was stored all the same")
		}
	})
}

func merged(t testing.TB, s *stores.Store, user, id string) string {
	t.Helper()
	state, err := s.Sessions.State(t.Context(), user, id)
	if err != nil {
		t.Fatalf("state of %s: %v", id, err)
	}
	out, err := json.Marshal(state.Merged)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Any sequence of batches leaves the state that a plain map has after it.
func TestState_agrees_with_a_plain_map(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	runs := 0
	storetest.Check(t, 20, func(r *rapid.T) {
		runs++
		app := fmt.Sprintf("app-%d", runs)
		ids := []string{fmt.Sprintf("a-%d", runs), fmt.Sprintf("b-%d", runs)}
		own := map[string]map[string]any{}
		shared := map[string]any{}
		for _, id := range ids {
			n := session.New{ID: id, UserID: alice, AppName: app, Nonce: id}
			if err := n.Validate(); err != nil {
				r.Fatal(err)
			}
			if _, err := s.Sessions.Create(t.Context(), n); err != nil {
				r.Fatal(err)
			}
			own[id] = map[string]any{}
		}
		for range rapid.IntRange(1, 8).Draw(r, "batches") {
			id := rapid.SampledFrom(ids).Draw(r, "session")
			var batch []session.Event
			for range rapid.IntRange(1, 3).Draw(r, "events") {
				delta := rapid.MapOf(
					rapid.SampledFrom([]string{"k", "l", "user:k", "app:k", "temp:k"}),
					rapid.SampledFrom([]any{nil, false, 0, "", "v", []any{}}),
				).Draw(r, "delta")
				batch = append(batch, stateEvent(t, "i", delta))
				for key, v := range delta {
					scope, _ := session.ScopeOf(key)
					into := shared
					switch scope {
					case session.ScopeSession:
						into = own[id]
					case session.ScopeTemp:
						continue
					case session.ScopeUser, session.ScopeApp:
					}
					if into[key] = v; v == nil {
						delete(into, key)
					}
				}
			}
			mustAppend(t, s, alice, id, batch...)
		}
		for _, id := range ids {
			want := map[string]any{}
			for _, m := range []map[string]any{own[id], shared} {
				for key, v := range m {
					want[key] = v
				}
			}
			text, err := json.Marshal(want)
			if err != nil {
				r.Fatal(err)
			}
			if diff := cmp.Diff(string(text), merged(t, s, alice, id)); diff != "" {
				r.Fatalf("state of %s (-want +got):\n%s", id, diff)
			}
		}
	})
}
