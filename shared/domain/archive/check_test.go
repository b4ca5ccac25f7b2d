package archive_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/session"
)

// before is what the first part of a document continues.
func before(h archive.Head) archive.Before {
	return archive.Before{SessionID: h.Session.ID, Head: h, Log: archive.LogHead{Next: 1}}
}

// nothingStored is a deployment without versions of earlier parts.
func nothingStored(string, int64) (*archive.Artifact, error) { return nil, nil }

// checkedEvent is an event at a seq, as parsing leaves it.
func checkedEvent(seq int64, l archive.Log) archive.Event {
	return archive.Event{Event: session.Event{
		ID: fmt.Sprint("e", seq), Seq: seq, Author: "a", Status: session.EventCompleted, CreatedTime: 7,
	}, Log: l}
}

// changing makes an event that sets a key.
func changing(e archive.Event, key, value, was string) archive.Event {
	e.StateDelta = session.Delta{key: json.RawMessage(value)}
	e.Log.Undo = session.Delta{key: json.RawMessage(was)}
	return e
}

// rewound is a document that has a little of everything: a batch, changes of state,
// a rewind, a task and artifacts.
func rewound() *archive.Part {
	marker := checkedEvent(4, archive.Log{ToSeq: 2, Timeline: archive.Timeline{{From: 1, To: 2}, {From: 5}}, Undo: session.Delta{"a": json.RawMessage("2")}})
	marker.StateDelta = session.Delta{"a": json.RawMessage("1")}
	return &archive.Part{
		Head: &archive.Head{
			Session:  session.Session{ID: "s", HeadSeq: 5, Epoch: 1},
			Timeline: archive.Timeline{{From: 1, To: 2}, {From: 5}},
		},
		Events: []archive.Event{
			changing(checkedEvent(1, archive.Log{Initial: true}), "a", "1", "null"),
			checkedEvent(2, archive.Log{Streamed: true, Deltas: 3}),
			changing(checkedEvent(3, archive.Log{Joins: true}), "a", "2", "1"),
			marker,
			checkedEvent(5, archive.Log{}),
		},
		Tasks: []archive.Task{{ID: "t", Place: 5, Places: map[string]int64{"i": 5, "none": 0}, Named: []string{"i"}}},
		Artifacts: []archive.Artifact{
			{Name: "f", Data: []byte{}},
			{Name: "f", Version: 1, Missing: true},
			{Name: "f", Version: 2, Restored: new(int64)},
			{Name: "f", Version: 3, Restored: ptr(2)},
			{Name: "f", Version: 4, Restored: ptr(1)},
			{Name: "user:f", Version: 7},
		},
		State:    &archive.State{State: session.State{Session: session.Values{"a": json.RawMessage(" 1 ")}}},
		Complete: true,
	}
}

func ptr(n int64) *int64 { return &n }

func TestPart_Check(t *testing.T) {
	t.Parallel()
	p := rewound()
	got, err := p.Check(before(*p.Head), nothingStored)
	if err != nil {
		t.Fatal(err)
	}
	want := archive.Checked{
		Entries: []archive.Entry{
			{Events: p.Events[:1], LastState: 1},
			{Events: p.Events[1:3], LastState: 2, PrevState: 1},
			{Events: p.Events[3:4], LastState: 4, PrevState: 2, LastMarker: 4, Epoch: 1, PrevDeltas: 4},
			{Events: p.Events[4:], LastState: 4, LastMarker: 4, Epoch: 1},
		},
		Targets: map[int]archive.Target{2: {}, 3: {}, 4: {Version: 1, Missing: true}},
		After: archive.Before{
			SessionID: "s", Head: *p.Head, Log: archive.LogHead{Next: 6, State: 4, Marker: 4, Epoch: 1},
			Values: session.Values{"a": json.RawMessage(" 1 ")}, Timeline: p.Head.Timeline, Shared: 1,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(rewound(), p); diff != "" {
		t.Errorf("the part was changed (-want +got):\n%s", diff)
	}
}

func TestPart_Check_names_what_is_wrong(t *testing.T) {
	t.Parallel()
	for want, breakIt := range map[string]func(p *archive.Part){
		"/events/2/seq":               func(p *archive.Part) { p.Events[2].Seq = 4 },
		"/events/1/_log/initial":      func(p *archive.Part) { p.Events[1].Log.Initial = true },
		"/events/0/_log/joins":        func(p *archive.Part) { p.Events[0].Log.Joins = true },
		"/events/2/created_time":      func(p *archive.Part) { p.Events[2].CreatedTime++ },
		"/events/4/created_time":      func(p *archive.Part) { p.Events[4].Log.Joins = true }, // a marker stands alone
		"/events/4/_log/undo/user:":   func(p *archive.Part) { p.Events[4].Log.Undo = session.Delta{"user:": nil} },
		"/events/4/_log/undo/a\x00":   func(p *archive.Part) { p.Events[4].Log.Undo = session.Delta{"a\x00": nil} },
		"/events/3/_log/timeline":     func(p *archive.Part) { p.Events[3].Log.Timeline = archive.Timeline{} },
		"/events/3/_log/timeline/0":   func(p *archive.Part) { p.Events[3].Log.Timeline = archive.Timeline{{From: 6}} },
		"/events/3/_log/timeline/1":   func(p *archive.Part) { p.Events[3].Log.Timeline = archive.Timeline{{From: 1, To: 4}, {From: 5}} },
		"/tasks/0/place":              func(p *archive.Part) { p.Tasks[0].Place = 6 },
		"/tasks/0/places/i~1j":        func(p *archive.Part) { p.Tasks[0].Places["i/j"] = 6 },
		"/tasks/0/named/1":            func(p *archive.Part) { p.Tasks[0].Named = []string{"i", "other"} },
		"/artifacts/1/version":        func(p *archive.Part) { p.Artifacts[1].Version = 0 },
		"/artifacts/2/restored":       func(p *archive.Part) { p.Artifacts[2].Restored = ptr(9) },
		"/artifacts/3/restored":       func(p *archive.Part) { p.Artifacts[2] = archive.Artifact{Name: "f", Version: 2, Gone: true} },
		"/artifacts/4/restored":       func(p *archive.Part) { p.Artifacts[4].Restored = ptr(4) }, // itself
		"/session/head_seq":           func(p *archive.Part) { p.Head.Session.HeadSeq-- },
		"/session/epoch":              func(p *archive.Part) { p.Head.Session.Epoch++ },
		"/timeline":                   func(p *archive.Part) { p.Head.Timeline = archive.Timeline{{From: 1}} },
		"/state/session":              func(p *archive.Part) { p.State.Session["a"] = json.RawMessage("2") },
		"/events/4/run":               func(p *archive.Part) { p.Head.Session.ID, p.Events[4].Log.Ended = "other", "r" },
		"/artifacts/65":               func(p *archive.Part) { addShared(p, archive.MaxShared) },
		"/artifacts/2/restored again": func(p *archive.Part) { p.Artifacts[0].Name = "g" },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			p := rewound()
			b := before(*p.Head)
			breakIt(p)
			b.Head = *p.Head
			_, err := p.Check(b, nothingStored)
			pointer, _, _ := strings.Cut(want, " ")
			var f *fault.Error
			if !errors.As(err, &f) || len(f.Violations) != 1 || f.Violations[0].Pointer != pointer {
				t.Errorf("got %v, want %q named", err, pointer)
			}
		})
	}
}

// Events may name artifacts that cannot exist, and then undo that.
func TestPart_Check_accepts_any_name_of_an_artifact(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "user:", "a/b", "..", "user:a/b", "app:\n"} {
		p := rewound()
		p.Events[4].Log.Undo = session.Delta{session.ArtifactKey(name): nil}
		if _, err := p.Check(before(*p.Head), nothingStored); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func addShared(p *archive.Part, n int64) {
	for i := range n {
		p.Artifacts = append(p.Artifacts, archive.Artifact{Name: "user:g", Version: i})
	}
}

func TestPart_Check_state(t *testing.T) {
	t.Parallel()
	t.Run("allows as many shared versions as fit", func(t *testing.T) {
		t.Parallel()
		p := rewound()
		addShared(p, archive.MaxShared-1)
		if _, err := p.Check(before(*p.Head), nothingStored); err != nil {
			t.Error(err)
		}
	})
	t.Run("refuses a state that outgrows its limit", func(t *testing.T) {
		t.Parallel()
		p := rewound()
		p.Events[4] = changing(p.Events[4], "b", `"`+strings.Repeat("x", session.MaxState)+`"`, "null")
		if _, err := p.Check(before(*p.Head), nothingStored); !errors.Is(err, fault.Of(fault.TooLarge)) {
			t.Error(err)
		}
	})
	t.Run("accepts the state of a fork without a check", func(t *testing.T) {
		t.Parallel()
		p := rewound()
		p.Head.Branched, p.State.Session["b"] = true, json.RawMessage("3")
		p.State.Artifacts = map[string]int64{"f": 2, "user:f": 7}
		got, err := p.Check(before(*p.Head), nothingStored)
		want := session.Values{"a": json.RawMessage(" 1 "), "b": json.RawMessage("3"), session.ArtifactKey("f"): json.RawMessage("2")}
		if diff := cmp.Diff(want, got.After.Values); diff != "" || err != nil {
			t.Errorf("values (-want +got): %v\n%s", err, diff)
		}
	})
	t.Run("a document that was never rewound shows all", func(t *testing.T) {
		t.Parallel()
		p := &archive.Part{Head: &archive.Head{Session: session.Session{ID: "s"}, Timeline: archive.Timeline{{From: 2}}}, State: &archive.State{}, Complete: true}
		if _, err := p.Check(before(*p.Head), nothingStored); !errors.Is(err, fault.Of(fault.Invalid)) {
			t.Errorf("it shows a part: %v", err)
		}
		p.Head.Timeline[0].From = 1
		if _, err := p.Check(before(*p.Head), nothingStored); err != nil {
			t.Error(err)
		}
	})
	t.Run("reports an error of the lookup", func(t *testing.T) {
		t.Parallel()
		p, lost := rewound(), errors.New("lost")
		p.Artifacts = p.Artifacts[2:3]
		_, err := p.Check(before(*p.Head), func(string, int64) (*archive.Artifact, error) { return nil, lost })
		if !errors.Is(err, lost) {
			t.Errorf("got %v", err)
		}
	})
}

func TestPart_Check_another_id(t *testing.T) {
	t.Parallel()
	p := rewound()
	p.Events[4].Log.Ended = "r"
	p.Events[4].Fields = map[string]json.RawMessage{
		"run": json.RawMessage(`{"id":"r","session_id":"s"}`), "m": json.RawMessage(`{"messageId":"m","contextId":"s"}`),
	}
	b := before(*p.Head)
	b.SessionID = "other"
	got, err := p.Check(b, nothingStored)
	if err != nil {
		t.Fatal(err)
	}
	fields := got.Entries[3].Events[0].Fields
	for name, want := range map[string]string{"run": `"session_id":"other"`, "m": `"contextId":"other"`} {
		if !strings.Contains(string(fields[name]), want) {
			t.Errorf("%s: %s, want %s", name, fields[name], want)
		}
	}
	if kept := string(p.Events[4].Fields["m"]); !strings.Contains(kept, `"contextId":"s"`) {
		t.Errorf("the part was changed: %s", kept)
	}
}

func TestState_Shared(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	s := &archive.State{
		State: session.State{
			Session: session.Values{"a": raw("1")}, User: session.Values{"b": raw("2")}, App: session.Values{"c": raw("3")},
		},
		Artifacts: map[string]int64{"f": 1, "user:g": 2},
		Elsewhere: []string{"user:b", "app:gone", "a", "user:"},
	}
	want := session.Delta{"user:b": raw("2"), "app:c": raw("3"), "app:gone": raw("null"), session.ArtifactKey("user:g"): raw("2")}
	if diff := cmp.Diff(want, s.Shared()); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
}
