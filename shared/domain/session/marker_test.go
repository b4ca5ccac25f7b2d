package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestRewind_Cancels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rewind session.Rewind
		active string
		want   bool
		kept   bool
	}{
		"no run is active":              {},
		"nor to be cancelled":           {rewind: session.Rewind{CancelRun: true}},
		"an active run is a conflict":   {active: "r", kept: true},
		"an active run is cancelled":    {rewind: session.Rewind{CancelRun: true}, active: "r", want: true},
		"a dry run says the same of it": {rewind: session.Rewind{DryRun: true}, active: "r", kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.rewind.Cancels(c.active)
			var f *fault.Error
			if c.kept != (errors.As(err, &f) && f.Kind == fault.Conflict && f.Extra["run_id"] == c.active) || got != c.want {
				t.Errorf("got %t, %v", got, err)
			}
		})
	}
}

func TestRewind_Marker(t *testing.T) {
	t.Parallel()
	r := session.Rewind{SessionID: "s", Before: "i", Nonce: "n"}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	got, err := r.Marker(session.MarkerAt{
		ID: "e", Seq: 7, Time: 5, History: session.History{Log: "l"},
		Then: session.Before{Outline: session.OutlineOf(session.Timeline{{Log: "l", From: 1, To: 3, Seq: 1}})},
	}, session.Delta{"a": raw("1"), "user:b": raw("null"), session.ArtifactKey("f"): raw("4")})
	want := session.Marker{
		Event: session.Event{
			ID: "e", InvocationID: "n", Author: "system", SessionID: "s", Seq: 7, Status: session.EventCompleted, CreatedTime: 5,
			StateDelta: session.Delta{"a": raw("1"), "user:b": raw("null")}, ArtifactDelta: map[string]int64{"f": 4},
			Fields: map[string]json.RawMessage{
				"content": raw(`{"parts":[{"text":"Session rewound"}]}`),
				"actions": raw(`{"artifact_delta":{"f":4},"rewind_before_invocation_id":"i","state_delta":{"a":1,"user:b":null}}`),
			},
		},
		Outline: session.OutlineOf(session.Timeline{{Log: "l", From: 1, To: 3, Seq: 1}, {Log: "l", From: 8, Seq: 8}}), ToSeq: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("marker (-want +got): %v\n%s", err, diff)
	}
	t.Run("names no state if none is restored", func(t *testing.T) {
		t.Parallel()
		got, err := r.Marker(session.MarkerAt{History: session.History{Log: "l"}}, nil)
		if want := `{"artifact_delta":{},"rewind_before_invocation_id":"i","state_delta":{}}`; string(got.Event.Fields["actions"]) != want || err != nil {
			t.Errorf("actions %s, %v", got.Event.Fields["actions"], err)
		}
	})
}

func TestRewound(t *testing.T) {
	t.Parallel()
	e := session.Event{StateDelta: session.Delta{"a": nil}, ArtifactDelta: map[string]int64{"f": 1}}
	got := session.Rewind{}.Rewound(e, session.Session{ID: "s"}, []string{"user:a", "app:b"})
	want := session.Rewound{
		Event: e, Session: session.Session{ID: "s"}, State: e.StateDelta, Artifacts: e.ArtifactDelta,
		Conflicts: []session.Conflict{{Key: "user:a", Reason: session.ChangedSince}, {Key: "app:b", Reason: session.ChangedSince}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rewound (-want +got):\n%s", diff)
	}
	got = session.Rewind{KeepApp: true}.Rewound(e, session.Session{ID: "s"}, []string{"user:a", "app:b"})
	want.Conflicts[1].Reason = session.NotPermitted
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rewound by a caller who leaves the state of the app (-want +got):\n%s", diff)
	}
}

func TestForkOf_Boundary(t *testing.T) {
	t.Parallel()
	before := "i"
	shown := session.OutlineOf(session.Timeline{{Log: "l", From: 1, To: 2, Seq: 1}, {Log: "l", From: 6, Seq: 6}})
	then := session.OutlineOf(session.Timeline{{Log: "l", From: 1, To: 3, Seq: 1}})
	now := session.Outline{shown[0], {Range: session.Range{Log: "l", From: 6, To: 8, Seq: 6}}}
	for name, c := range map[string]struct {
		fork   session.ForkOf
		source session.ForkSource
		want   session.Boundary
	}{
		"all that is shown now": {source: session.ForkSource{Shown: shown, Last: 8}, want: session.Boundary{Outline: now, Position: 8, Found: true}},
		"what was shown then": {
			fork:   session.ForkOf{Before: &before, Strict: true},
			source: session.ForkSource{Shown: shown, Last: 8, Target: 4, Then: then},
			want:   session.Boundary{Outline: then, Position: 3, Found: true},
		},
		"all for a boundary that is missing": {
			fork:   session.ForkOf{Before: &before},
			source: session.ForkSource{Shown: shown, Last: 8}, want: session.Boundary{Outline: now, Position: 8},
		},
		"nothing that came after the head": {source: session.ForkSource{Shown: shown, Last: 5}, want: session.Boundary{Outline: shown[:1], Position: 5, Found: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.fork.Boundary(c.source)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("boundary (-want +got): %v\n%s", err, diff)
			}
		})
	}
	_, err := session.ForkOf{Before: &before, Strict: true}.Boundary(session.ForkSource{Shown: shown, Last: 8})
	if !errors.Is(err, fault.Of(fault.Malformed)) {
		t.Errorf("a strict fork without its boundary: %v", err)
	}
}

func TestForkOf_NameOf(t *testing.T) {
	t.Parallel()
	none, own := "", "mine"
	for name, c := range map[string]struct {
		asked  *string
		source string
		want   string
	}{
		"after its source":             {source: "Trip", want: "Fork of Trip"},
		"after an unnamed one's id":    {want: "Fork of s"},
		"as asked":                     {asked: &own, source: "Trip", want: own},
		"none, as asked":               {asked: &none, source: "Trip"},
		"no longer than a name may be": {source: strings.Repeat("é", session.MaxName), want: "Fork of " + strings.Repeat("é", session.MaxName-8)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (session.ForkOf{Name: c.asked}).NameOf(c.source, "s"); got != c.want {
				t.Errorf("named %q, want %q", got, c.want)
			}
		})
	}
}
