package adk_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	adksession "google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/rethread/rethread/clients/go/adk"
	"github.com/rethread/rethread/shared/domain/task"
)

func TestAppendEvent(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	t.Run("fails with ErrStale after another writer has appended", func(t *testing.T) {
		first := s.mustCreate(t, alice, "two", nil)
		second := s.mustGet(t, "two")
		s.mustAppend(t, first, changing("i-1", map[string]any{"k": "first"}))
		err := s.Sessions.AppendEvent(t.Context(), second, changing("i-2", map[string]any{"k": "second"}))
		if !errors.Is(err, adk.ErrStale) || second.Events().Len() != 0 {
			t.Errorf("got %v, and %d events", err, second.Events().Len())
		}
		s.mustAppend(t, s.mustGet(t, "two"), changing("i-3", nil))
		if diff := cmp.Diff([]string{"i-1", "i-3"}, invocations(s.mustGet(t, "two"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("fails with ErrStale after a rewind", func(t *testing.T) {
		to := s.mustCreate(t, alice, "rewound", nil)
		s.mustAppend(t, to, changing("i-1", nil), changing("i-2", nil))
		if _, err := s.Sessions.Rewind(t.Context(), rewind("rewound", "i-2")); err != nil {
			t.Fatal(err)
		}
		if err := s.Sessions.AppendEvent(t.Context(), to, changing("i-3", nil)); !errors.Is(err, adk.ErrStale) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("continues past log entries that are not events", func(t *testing.T) {
		to := s.mustCreate(t, alice, "hidden", nil)
		s.mustAppend(t, to, changing("i-1", nil))
		saved := task.Save{SessionID: "hidden", UserID: alice, Task: task.Task{
			ID: "t", UserMessage: json.RawMessage(`"hi"`), Bubbles: json.RawMessage(`[]`),
		}}
		if _, _, err := s.store.Tasks.Save(t.Context(), saved); err != nil {
			t.Fatal(err)
		}
		s.mustAppend(t, to, changing("i-2", nil))
		if diff := cmp.Diff([]string{"i-1", "i-2"}, invocations(s.mustGet(t, "hidden"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("accepts concurrent events", func(t *testing.T) {
		to := s.mustCreate(t, alice, "parallel", nil)
		var group errgroup.Group
		for i := range 8 {
			group.Go(func() error {
				return s.Sessions.AppendEvent(t.Context(), to, changing("i", map[string]any{fmt.Sprint(i): true}))
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		again := s.mustGet(t, "parallel")
		if diff := cmp.Diff(stateOf(to), stateOf(again)); diff != "" || again.Events().Len() != 8 {
			t.Errorf("%d events, state (-copy +read again):\n%s", again.Events().Len(), diff)
		}
	})
	t.Run("appends by id to a session of another implementation", func(t *testing.T) {
		s.mustCreate(t, alice, "named", nil)
		s.mustAppend(t, named{s.mustGet(t, "named")}, changing("i-1", nil))
		if got := s.mustGet(t, "named").Events().Len(); got != 1 {
			t.Errorf("%d events", got)
		}
	})
	t.Run("returns the API's errors", func(t *testing.T) {
		to := s.mustCreate(t, alice, "refused", nil)
		nobody := changing("", nil)
		versionZero := changing("i", nil)
		versionZero.Actions.ArtifactDelta = map[string]int64{"f": 0}
		endless := changing("i", map[string]any{"k": func() {}})
		for name, e := range map[string]*adksession.Event{"no invocation": nobody, "version 0": versionZero, "no JSON": endless} {
			if err := s.Sessions.AppendEvent(t.Context(), to, e); err == nil || to.Events().Len() != 0 {
				t.Errorf("%s: %v, and %d events", name, err, to.Events().Len())
			}
		}
	})
}

func TestNumbersThatJSONLacksAreStrings(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	to := s.mustCreate(t, alice, "s", map[string]any{"begun": math.Inf(-1)})
	e := changing("i", map[string]any{"n": []float64{1.5, math.NaN()}})
	response := map[string]any{"deep": []any{map[string]any{"n": float32(math.Inf(1))}}, "text": "half \xff"}
	e.Content = genai.NewContentFromFunctionResponse("f", response, genai.RoleUser)
	s.mustAppend(t, to, e)
	again := s.mustGet(t, "s")
	want := map[string]any{"begun": "-Infinity", "n": []any{1.5, "NaN"}}
	if diff := cmp.Diff(want, stateOf(again)); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	want = map[string]any{"deep": []any{map[string]any{"n": "Infinity"}}, "text": "half \ufffd"}
	if diff := cmp.Diff(want, again.Events().At(0).Content.Parts[0].FunctionResponse.Response); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}

func TestRewindHidesNothingThatACopyLacks(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	seen := s.mustCreate(t, alice, "s", nil)
	s.mustAppend(t, seen, changing("i-1", nil))
	s.mustAppend(t, s.mustGet(t, "s"), changing("i-2", nil))
	request := rewind("s", "i-1")
	request.Seen = seen
	if _, err := s.Sessions.Rewind(t.Context(), request); !errors.Is(err, adk.ErrStale) {
		t.Errorf("with an old copy: %v", err)
	}
	request.Seen = named{seen}
	if _, err := s.Sessions.Rewind(t.Context(), request); !errors.Is(err, adk.ErrMalformed) {
		t.Errorf("with a copy of another implementation: %v", err)
	}
	if diff := cmp.Diff([]string{"i-1", "i-2"}, invocations(s.mustGet(t, "s"))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	request.Seen = s.mustGet(t, "s")
	done, err := s.Sessions.Rewind(t.Context(), request)
	if err != nil || done.Session.Events().Len() != 0 {
		t.Errorf("with a new copy: %+v, %v", done, err)
	}
}

// named is a session of another implementation.
type named struct{ adksession.Session }

func rewind(id, before string) *adk.RewindRequest {
	return &adk.RewindRequest{AppName: app, UserID: alice, SessionID: id, BeforeInvocationID: before}
}

func TestRewind(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	to := s.mustCreate(t, alice, "s", map[string]any{"k": "begun"})
	save(t, s, "s", "plan", "one")
	one := changing("i-1", map[string]any{"k": "one", "user:u": "one"})
	one.Actions.ArtifactDelta = map[string]int64{"plan": 1}
	save(t, s, "s", "plan", "two")
	two := changing("i-2", map[string]any{"k": "two", "new": 2.0, "user:u": "two"})
	two.Actions.ArtifactDelta = map[string]int64{"plan": 2}
	s.mustAppend(t, to, one, two)

	done, err := s.Sessions.Rewind(t.Context(), rewind("s", "i-2"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"k": "one", "new": nil, "user:u": "one"}, done.State); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"k": "one", "user:u": "one"}, stateOf(done.Session)); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"i-1"}, invocations(done.Session)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"plan": 3}, done.Artifacts); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	if got := load(t, s, "s", "plan", 0); got != "one" {
		t.Errorf("the artifact contains %q", got)
	}
	s.mustAppend(t, done.Session, changing("i-3", nil))

	for name, c := range map[string]struct {
		request *adk.RewindRequest
		kind    error
	}{
		"unknown invocation": {rewind("s", "i-9"), adk.ErrNotFound},
		"no invocation":      {rewind("s", ""), adk.ErrMalformed},
		"unknown session":    {rewind("none", "i-1"), adk.ErrNotFound},
		"session of another app": {&adk.RewindRequest{
			AppName: "another", UserID: alice, SessionID: "s", BeforeInvocationID: "i-1",
		}, adk.ErrNotFound},
	} {
		if _, err := s.Sessions.Rewind(t.Context(), c.request); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	to := s.mustCreate(t, alice, "s", map[string]any{"k": "begun"})
	s.mustAppend(t, to, changing("i-1", map[string]any{"k": "one"}), changing("i-2", map[string]any{"k": "two"}))
	request := &adk.ForkRequest{AppName: app, UserID: alice, SessionID: "s", BeforeInvocationID: "i-2", Name: "other"}
	forked, err := s.Sessions.Fork(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if !forked.BoundaryFound || forked.Session.ID() == "s" || forked.Session.AppName() != app {
		t.Errorf("got %+v", forked)
	}
	s.mustAppend(t, forked.Session, changing("i-3", map[string]any{"k": "three"}))
	for id, want := range map[string][]string{"s": {"i-1", "i-2"}, forked.Session.ID(): {"i-1", "i-3"}} {
		if diff := cmp.Diff(want, invocations(s.mustGet(t, id))); diff != "" {
			t.Errorf("session %s (-want +got):\n%s", id, diff)
		}
	}
	request.BeforeInvocationID = "i-9"
	if _, err := s.Sessions.Fork(t.Context(), request); !errors.Is(err, adk.ErrMalformed) {
		t.Errorf("unknown invocation: %v", err)
	}
	request.Lenient = true
	whole, err := s.Sessions.Fork(t.Context(), request)
	if err != nil || whole.BoundaryFound || whole.Session.Events().Len() != 2 {
		t.Errorf("unknown invocation, lenient: %+v, %v", whole, err)
	}
}
