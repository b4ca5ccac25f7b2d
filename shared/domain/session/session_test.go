package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestNewFillsDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		n    session.New
		want string
	}{
		"nothing given":       {session.New{ID: "s"}, "default"},
		"an agent":            {session.New{ID: "s", Agent: "helper"}, "helper"},
		"an app and an agent": {session.New{ID: "s", Agent: "helper", AppName: "desk"}, "desk"},
	} {
		if err := c.n.Validate(); err != nil || c.n.AppName != c.want || string(c.n.Metadata) != "{}" {
			t.Errorf("%s: %+v, %v", name, c.n, err)
		}
	}
}

func TestLimits(t *testing.T) {
	name := strings.Repeat("é", session.MaxName)
	large := json.RawMessage(`{"x":"` + strings.Repeat("m", session.MaxMetadata) + `"}`)
	for _, c := range []struct {
		what    string
		check   func() error
		pointer string // "" if valid
	}{
		{"the longest name", session.Patch{Name: &name}.Validate, ""},
		{"a longer name", func() error { more := name + "x"; return session.Patch{Name: &more}.Validate() }, "/name"},
		{"large metadata", session.Patch{Metadata: large}.Validate, "/metadata"},
		{"metadata no object", session.Patch{Metadata: json.RawMessage("[]")}.Validate, "/metadata"},
		{"the longest retention", func() error { n := int64(session.MaxRetention); return session.Patch{Retention: &n}.Validate() }, ""},
		{"removing the retention", session.Patch{Retention: new(int64)}.Validate, ""},
		{"a retention too short", func() error { n := int64(59); return session.Patch{Retention: &n}.Validate() }, "/retention"},
		{"a retention too long", (&session.New{ID: "s", Retention: session.MaxRetention + 1}).Validate, "/retention"},
		{"a negative retention", (&session.New{ID: "s", Retention: -1}).Validate, "/retention"},
		{"no id", (&session.New{}).Validate, "/id"},
		{"a state key too long", (&session.New{ID: "s", State: session.Delta{strings.Repeat("k", 257): nil}}).Validate, "/state/" + strings.Repeat("k", 257)},
	} {
		err := c.check()
		var f *fault.Error
		switch {
		case c.pointer == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.pointer != "" && (!errors.As(err, &f) || f.Violations[0].Pointer != c.pointer):
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if err := (session.Patch{}).Validate(); !errors.Is(err, fault.Of(fault.Invalid)) {
		t.Errorf("an empty patch: %v", err)
	}
}

func TestParseStatus(t *testing.T) {
	for _, s := range []session.Status{session.Idle, session.InProgress, session.Failed} {
		if got, err := session.ParseStatus(string(s)); got != s || err != nil {
			t.Errorf("%s: %s, %v", s, got, err)
		}
	}
	if _, err := session.ParseStatus("busy"); !errors.Is(err, fault.Of(fault.Malformed)) {
		t.Errorf("unknown status: %v", err)
	}
}

func TestParseRetention(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "60s": 60, "720h": 2592000, "30d": 2592000, "3650d": session.MaxRetention, "1h30m": 5400,
	} {
		if got, err := session.ParseRetention(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "30", "d", "0d", "-1d", "59s", "3651d", "9999999999d", "1.5d", "87601h", "soon"} {
		if got, err := session.ParseRetention(text); !errors.Is(err, fault.Of(fault.Invalid)) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
