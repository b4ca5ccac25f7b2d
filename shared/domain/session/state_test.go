package session_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestScopeOf(t *testing.T) {
	for key, want := range map[string]struct {
		scope session.Scope
		name  string
	}{
		"k":        {session.ScopeSession, "k"},
		"user:k":   {session.ScopeUser, "k"},
		"app:k":    {session.ScopeApp, "k"},
		"temp:k":   {session.ScopeTemp, "k"},
		"user:":    {session.ScopeUser, ""},
		"User:k":   {session.ScopeSession, "User:k"},
		"app:user": {session.ScopeApp, "user"},
	} {
		if scope, name := session.ScopeOf(key); scope != want.scope || name != want.name {
			t.Errorf("%q: got %d %q, want %d %q", key, scope, name, want.scope, want.name)
		}
	}
}

func TestDeltaValidate(t *testing.T) {
	for key, pointer := range map[string]string{
		"": "/state/", "user:": "/state/user:", strings.Repeat("é", 257): "/state/" + strings.Repeat("é", 257),
		"temp:": "/state/temp:",
	} {
		var f *fault.Error
		err := session.Delta{"fine": nil, key: nil}.Validate("/state")
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Violations[0].Pointer != pointer {
			t.Errorf("%q: %v", key, err)
		}
	}
	if err := (session.Delta{strings.Repeat("é", 256): nil, "a/b~": nil}).Validate(""); err != nil {
		t.Error(err)
	}
	if got := jsonx.EscapePointer("a/b~1"); got != "a~1b~01" {
		t.Errorf("escaped: %s", got)
	}
}

// There are few keys and values, so that changes overlap.
func deltas() *rapid.Generator[session.Delta] {
	keys := rapid.SampledFrom([]string{"a", "b", "c", "user:a", "app:b", "temp:c"})
	values := rapid.SampledFrom([]string{"null", "1", `"x"`, `{"y":[]}`, " null "})
	return rapid.Custom(func(t *rapid.T) session.Delta {
		d := session.Delta{}
		for key, v := range rapid.MapOfN(keys, values, 0, 4).Draw(t, "delta") {
			d[key] = json.RawMessage(v)
		}
		return d
	})
}

func TestUndoTakesChangesBack(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		values := session.Values{}
		var undo []session.Delta
		var before []session.Values
		for _, d := range rapid.SliceOfN(deltas(), 1, 8).Draw(t, "deltas") {
			before = append(before, maps.Clone(values))
			undo = append(undo, values.Apply(d.In(session.ScopeSession)))
			for key, v := range values {
				if jsonx.IsNull(v) {
					t.Fatalf("%q is null instead of absent", key)
				}
			}
		}
		for i := len(undo) - 1; i >= 0; i-- {
			values.Apply(undo[i])
			if diff := cmp.Diff(before[i], values); diff != "" {
				t.Fatalf("undo of change %d (-before +after):\n%s", i, diff)
			}
		}
	})
}

func TestScopesSplitADelta(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		d := deltas().Draw(t, "delta")
		whole := session.Delta{}
		for _, s := range []session.Scope{session.ScopeSession, session.ScopeUser, session.ScopeApp} {
			for key, v := range d.In(s) {
				whole[s.Prefix()+key] = v
			}
		}
		if diff := cmp.Diff(d.Stored(), whole); diff != "" {
			t.Fatalf("the scopes together (-stored +scopes):\n%s", diff)
		}
	})
}

func TestMerge(t *testing.T) {
	s := session.State{
		Session: session.Values{"a": json.RawMessage("1")},
		User:    session.Values{"a": json.RawMessage("2")},
		App:     session.Values{"a": json.RawMessage("3")},
	}
	s.Merge()
	want := session.Values{"a": json.RawMessage("1"), "user:a": json.RawMessage("2"), "app:a": json.RawMessage("3")}
	if diff := cmp.Diff(want, s.Merged); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(s.Session) != 1 {
		t.Error("merging changed the session's own values")
	}
}

func TestStateSize(t *testing.T) {
	v := session.Values{"k": json.RawMessage(`"` + strings.Repeat("x", session.MaxState) + `"`)}
	err := v.CheckSize(session.ScopeUser)
	if !errors.Is(err, fault.Of(fault.TooLarge)) || !strings.Contains(err.Error(), "user state") {
		t.Errorf("got %v", err)
	}
	if err := (session.Values{"k": json.RawMessage("1")}).CheckSize(session.ScopeApp); err != nil {
		t.Error(err)
	}
}
