package session_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestRewindRestored(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	key := session.ArtifactKey
	type held struct {
		value string
		by    string
	}
	for name, c := range map[string]struct {
		rewind    session.Rewind
		then      session.Delta
		now       map[string]held // by prefixed key
		want      session.Delta
		conflicts []string
	}{
		"nothing was changed":       {},
		"a value is restored":       {then: session.Delta{"a": raw("1")}, now: map[string]held{"a": {"2", "s"}}, want: session.Delta{"a": raw("1")}},
		"an added key is deleted":   {then: session.Delta{"a": raw("null")}, now: map[string]held{"a": {"2", "s"}}, want: session.Delta{"a": raw("null")}},
		"a deleted key is restored": {then: session.Delta{"a": raw("1")}, want: session.Delta{"a": raw("1")}},
		"an unchanged value stays":  {then: session.Delta{"a": raw("1"), "b": raw("null")}, now: map[string]held{"a": {"1", "other"}}},
		"other scopes stay": {
			rewind: session.Rewind{Scopes: []session.Scope{session.ScopeSession}},
			then:   session.Delta{"a": raw("1"), "user:a": raw("1"), key("user:f"): raw("0"), key("f"): raw("0")},
			want:   session.Delta{"a": raw("1"), key("f"): raw("0")},
		},
		"a key that another session changed since is a conflict": {
			then:      session.Delta{"user:a": raw("1"), "app:b": raw("1"), key("user:f"): raw("0")},
			now:       map[string]held{"user:a": {"2", "other"}, "app:b": {"2", "s"}, key("user:f"): {"3", "other"}},
			want:      session.Delta{"app:b": raw("1")},
			conflicts: []string{"user:f", "user:a"},
		},
		"a key that another session changed is restored on request": {
			rewind: session.Rewind{Restore: true},
			then:   session.Delta{"user:a": raw("1")}, now: map[string]held{"user:a": {"2", "other"}},
			want: session.Delta{"user:a": raw("1")},
		},
		"the state of the app is left and reported": {
			rewind: session.Rewind{KeepApp: true, Restore: true},
			then:   session.Delta{"a": raw("1"), "user:a": raw("1"), "app:a": raw("1"), "app:same": raw("2")},
			now:    map[string]held{"app:a": {"2", "s"}, "app:same": {"2", "s"}},
			want:   session.Delta{"a": raw("1"), "user:a": raw("1")}, conflicts: []string{"app:a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.rewind.SessionID = "s"
			if c.want == nil {
				c.want = session.Delta{}
			}
			got, conflicts := c.rewind.Restored(c.then, func(scope session.Scope, name string) (json.RawMessage, string) {
				h := c.now[scope.Prefix()+name]
				return raw(h.value), h.by
			})
			if diff := cmp.Diff(c.want, got) + cmp.Diff(c.conflicts, conflicts); diff != "" {
				t.Errorf("restored (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeltaVersions(t *testing.T) {
	t.Parallel()
	d := session.Delta{
		session.ArtifactKey("a"): json.RawMessage("3"), session.ArtifactKey("user:b"): json.RawMessage("null"),
		"c": json.RawMessage("1"),
	}
	got, err := d.Versions(2)
	want := map[string]int64{"a": 3, "user:b": session.NoVersion}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("versions (-want +got): %v\n%s", err, diff)
	}
	if _, err := d.Versions(1); !errors.Is(err, fault.Of(fault.Invalid)) {
		t.Errorf("two where one may be restored: %v", err)
	}
	if _, err := (session.Delta{session.ArtifactKey("a"): json.RawMessage(`"x"`)}).Versions(2); err == nil {
		t.Error("a version that is no number is read")
	}
}
