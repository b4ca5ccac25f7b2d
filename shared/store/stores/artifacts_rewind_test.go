package stores_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// mustName puts a version and appends the event that makes it part of the
// conversation.
func mustName(t testing.TB, s *stores.Store, id, invocation, name, content string) {
	t.Helper()
	v := mustPut(t, s, alice, id, name, content)
	mustAppend(t, s, alice, id, named(t, invocation, map[string]int64{name: v.Version}))
}

func named(t testing.TB, invocation string, delta map[string]int64) session.Event {
	t.Helper()
	return parse(t, map[string]any{
		"invocation_id": invocation, "author": "user", "actions": map[string]any{"artifact_delta": delta},
	})
}

func TestArtifactsRewound(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	for n, content := range []string{"first", "second"} {
		for _, name := range []string{"a", "user:a"} {
			mustName(t, s, "s", fmt.Sprint("inv-", n+1), name, content)
		}
	}
	mustName(t, s, "s", "inv-2", "b", "late")
	mustPut(t, s, alice, "s", "unnamed", "stays")

	first := mustRewind(t, s, "s", "inv-2")
	want := map[string]int64{"a": 2, "user:a": 2, "b": 1}
	if diff := cmp.Diff(want, first.Artifacts); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	mustRead(t, s, newest("s", "a"), "first")
	mustRead(t, s, newest("s", "user:a"), "first")
	mustRead(t, s, newest("s", "b"), "")
	mustRead(t, s, newest("s", "unnamed"), "stays")
	mustRead(t, s, numbered("s", "a", 1), "second")
	if diff := cmp.Diff([]string{"a@2", "unnamed@0", "user:a@2"}, mustList(t, s, alice, "s", 9)); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}

	mustRewind(t, s, "s", first.Event.InvocationID) // undo it
	mustRead(t, s, newest("s", "a"), "second")
	mustRead(t, s, newest("s", "user:a"), "second")
	mustRead(t, s, newest("s", "b"), "late")

	mustRewind(t, s, "s", "inv-1")
	for _, name := range []string{"a", "user:a", "b"} {
		mustRead(t, s, newest("s", name), "")
	}
}

func TestArtifactsForked(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "root", nil)
	big := randomText(t, 500<<10)
	mustName(t, s, "root", "inv-1", "a", big)
	mustName(t, s, "root", "inv-2", "a", "second")
	mustName(t, s, "root", "inv-2", "b", "late")
	before := "inv-2"
	mustFork(t, s, "root", "fork", &before)
	mustRead(t, s, newest("fork", "a"), big)
	mustRead(t, s, numbered("fork", "a", 1), "")
	mustRead(t, s, newest("fork", "b"), "")

	mustName(t, s, "fork", "inv-3", "a", "of the fork")
	mustRead(t, s, newest("root", "a"), "second")
	mustFork(t, s, "fork", "leaf", nil)
	mustRewind(t, s, "fork", "inv-3")
	mustRead(t, s, newest("fork", "a"), big)
	mustRead(t, s, newest("leaf", "a"), "of the fork")
	mustRewind(t, s, "leaf", "inv-1")
	mustRead(t, s, newest("leaf", "a"), "")
	mustRead(t, s, newest("fork", "a"), big)

	for _, id := range []string{"root", "leaf"} {
		if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
			t.Fatal(err)
		}
	}
	mustRead(t, s, newest("fork", "a"), big)
	if diff := cmp.Diff([]string{"a@2"}, mustList(t, s, alice, "fork", 1)); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestRewindOfMoreArtifactsThanATransactionHolds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "many", nil)
	delta := map[string]int64{}
	for n := range 101 {
		delta[fmt.Sprint("a", n)] = 0
	}
	mustPut(t, s, alice, "many", "a0", "x")
	mustAppend(t, s, alice, "many", named(t, "inv-1", delta))
	_, err := s.History.Rewind(t.Context(), session.Rewind{SessionID: "many", UserID: alice, Before: "inv-1", Nonce: uuid.NewString()})
	if !errors.Is(err, fault.Of(fault.Invalid)) {
		t.Errorf("got %v, want it refused", err)
	}
	mustRead(t, s, newest("many", "a0"), "x")
	if got := len(mustEvents(t, s, alice, "many", session.EventQuery{View: session.All})); got != 1 {
		t.Errorf("%d events after a refused rewind, want 1", got)
	}
}

// An event may name a version that does not exist; a fork does not see what its
// source stores under that number later.
func TestArtifactsForked_before_they_were_stored(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "root", nil)
	mustPut(t, s, alice, "root", "a", "first")
	mustAppend(t, s, alice, "root", named(t, "inv-1", map[string]int64{"a": 7, "b": 3}))
	mustFork(t, s, "root", "fork", nil)
	for range 8 {
		mustPut(t, s, alice, "root", "a", "later")
		mustPut(t, s, alice, "root", "b", "later")
	}
	mustRead(t, s, newest("fork", "a"), "first")
	mustRead(t, s, newest("fork", "b"), "")
}

// Events may name artifacts that no put could have made.
func TestArtifactsRewound_with_impossible_names(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustPut(t, s, alice, "s", "a", "stays")
	for i, name := range impossibleNames() {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			mustAppend(t, s, alice, "s", named(t, fmt.Sprint("inv-", i), map[string]int64{name: 0}))
			got := mustRewind(t, s, "s", fmt.Sprint("inv-", i))
			if len(got.Artifacts) > 0 || len(got.Event.ArtifactDelta) > 0 {
				t.Errorf("restored %v; the event has %v", got.Artifacts, got.Event.ArtifactDelta)
			}
			if diff := cmp.Diff([]string{"a@0"}, mustList(t, s, alice, "s", 9)); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
		})
	}
}

// A shared name that another session has named since is no conflict if no artifact can
// have it.
func TestArtifactsRewound_with_impossible_shared_names(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustCreate(t, s, alice, "other", nil)
	mustAppend(t, s, alice, "s", named(t, "first", map[string]int64{"user:a/b": 1, "user:c": 1}))
	mustAppend(t, s, alice, "other", named(t, "later", map[string]int64{"user:a/b": 2, "user:c": 2}))
	if got := mustRewind(t, s, "s", "first"); len(got.Conflicts) != 1 || got.Conflicts[0].Key != "user:c" {
		t.Errorf("conflicts: %+v", got.Conflicts)
	}
}
