package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

func mustParse(t *testing.T, raw string) session.Event {
	t.Helper()
	e, err := session.ParseEvent(json.RawMessage(raw), "")
	if err != nil {
		t.Fatalf("parse %s: %v", raw, err)
	}
	return e
}

func TestParseEvent(t *testing.T) {
	t.Run("parses known members and keeps the others", func(t *testing.T) {
		e := mustParse(t, ` {"id":"e","invocation_id":"i","author":"a","partial":true,"content":{"parts":[]},"x":1.0}`)
		if e.ID != "e" || e.InvocationID != "i" || e.Author != "a" || !e.Partial || string(e.Fields["x"]) != "1.0" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("ignores members that the store sets", func(t *testing.T) {
		e := mustParse(t, `{"invocation_id":"i","author":"a","seq":7,"session_id":"x","created_time":1,"status":"failed"}`)
		if got := string(e.Own()); got != `{"id":"","invocation_id":"i","author":"a"}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("drops temporary keys from the state delta", func(t *testing.T) {
		e := mustParse(t, `{"invocation_id":"i","author":"a","actions":{"state_delta":{"temp:x":1,"y":2},"z":3}}`)
		if got, want := string(e.Fields["actions"]), `{"state_delta":{"y":2},"z":3}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if len(e.StateDelta) != 1 {
			t.Errorf("delta %v", e.StateDelta)
		}
	})
	t.Run("keeps names that no artifact can have, as stored events may have them", func(t *testing.T) {
		const raw = `{"id":"e","invocation_id":"i","author":"a","actions":{"artifact_delta":{"":0,"a/b":1,"user:":2}}}`
		if e := mustParse(t, raw); string(e.Own()) != raw || len(e.ArtifactDelta) != 3 {
			t.Errorf("got %s with %v", e.Own(), e.ArtifactDelta)
		}
	})
	t.Run("treats a null optional member as missing", func(t *testing.T) {
		e := mustParse(t, `{"id":null,"invocation_id":"i","author":"a","content":null,"actions":null}`)
		if e.ID != "" || e.StateDelta != nil {
			t.Errorf("got %+v", e)
		}
	})
}

func TestParseEventRefuses(t *testing.T) {
	long := strings.Repeat("x", 129)
	for name, c := range map[string]struct {
		raw, pointer string
		kind         fault.Kind
	}{
		"no object":              {`[]`, "/events/3", fault.Malformed},
		"no invocation":          {`{"author":"a"}`, "/events/3/invocation_id", fault.Malformed},
		"invocation null":        {`{"author":"a","invocation_id":null}`, "/events/3/invocation_id", fault.Malformed},
		"author of a wrong type": {`{"invocation_id":"i","author":{}}`, "/events/3/author", fault.Malformed},
		"author too long":        {`{"invocation_id":"i","author":"` + long + `"}`, "/events/3/author", fault.Invalid},
		"id too long":            {`{"id":"` + long + `","invocation_id":"i","author":"a"}`, "/events/3/id", fault.Invalid},
		"id with control":        {`{"id":"\u0085","invocation_id":"i","author":"a"}`, "/events/3/id", fault.Invalid},
		"content no object":      {`{"invocation_id":"i","author":"a","content":[]}`, "/events/3/content", fault.Malformed},
		"delta no object":        {`{"invocation_id":"i","author":"a","actions":{"state_delta":5}}`, "/events/3/actions/state_delta", fault.Malformed},
		"artifacts no versions":  {`{"invocation_id":"i","author":"a","actions":{"artifact_delta":{"f":1.5}}}`, "/events/3/actions/artifact_delta/f", fault.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := session.ParseEvent(json.RawMessage(c.raw), "/events/3")
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != c.kind || f.Violations[0].Pointer != c.pointer {
				t.Errorf("got %v, want kind %d at %s", err, c.kind, c.pointer)
			}
		})
	}
}

func TestSameAs(t *testing.T) {
	e := mustParse(t, `{"id":"e","invocation_id":"i","author":"a","content":{"a":1,"b":[2]},"n":null}`)
	for raw, want := range map[string]bool{
		`{"id":"e","author":"a","content":{"b": [2],"a":1},"invocation_id":"i"}`:         true,
		`{"id":"e","invocation_id":"i","author":"a","content":{"a":1,"b":[2]},"seq":99}`: true,
		`{"id":"e","invocation_id":"i","author":"b","content":{"a":1,"b":[2]}}`:          false,
		`{"id":"e","invocation_id":"j","author":"a","content":{"a":1,"b":[2]}}`:          false,
		`{"id":"e","invocation_id":"i","author":"a","content":{"a":1,"b":[3]}}`:          false,
		`{"id":"e","invocation_id":"i","author":"a","content":{"a":1,"b":[2]},"more":0}`: false,
	} {
		if got := e.SameAs(mustParse(t, raw)); got != want {
			t.Errorf("same as %s: %v", raw, got)
		}
	}
}

// jsonValue generates any JSON value.
func jsonValue(depth int) *rapid.Generator[any] {
	plain := rapid.OneOf(
		rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
	)
	if depth == 0 {
		return plain
	}
	return rapid.OneOf(
		plain,
		rapid.MapOfN(rapid.String(), jsonValue(depth-1), 0, 3).AsAny(),
		rapid.SliceOfN(jsonValue(depth-1), 0, 3).AsAny(),
	)
}

func TestStoredEventsReadBackTheSame(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		fields := rapid.MapOfN(rapid.StringMatching(`[A-Za-z_<é"]{1,8}`), jsonValue(2), 0, 4).Draw(t, "fields")
		for _, own := range []string{"partial", "actions", "content", "id", "seq", "status"} {
			delete(fields, own)
		}
		fields["invocation_id"], fields["author"] = "i", rapid.StringN(1, 20, 60).Draw(t, "author")
		fields["content"] = rapid.MapOfN(rapid.String(), jsonValue(1), 0, 2).Draw(t, "content")
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		e, err := session.ParseEvent(raw, "")
		if err != nil {
			t.Fatalf("parse %s: %v", raw, err)
		}
		e.ID = "e" // the store never stores an event without one
		again, err := session.ParseEvent(e.Own(), "")
		if err != nil {
			t.Fatalf("parse what is stored, %s: %v", e.Own(), err)
		}
		if !e.SameAs(again) || !again.SameAs(e) {
			t.Fatalf("%s reads back as %s", e.Own(), again.Own())
		}
		if diff := cmp.Diff(string(e.Own()), string(again.Own())); diff != "" {
			t.Fatalf("bytes change (-first +second):\n%s", diff)
		}
	})
}

func TestEventJSON(t *testing.T) {
	e := mustParse(t, `{"id":"e","invocation_id":"i","author":"<a>","x":"&\u003c"}`)
	e.Seq, e.SessionID, e.Status, e.CreatedTime = 4, "s", session.EventCompleted, 9
	var buf strings.Builder
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	want := `{"id":"e","seq":4,"session_id":"s","status":"completed","created_time":9,"invocation_id":"i",` +
		`"author":"<a>","actions":{},"content":null,"x":"&\u003c"}` + "\n"
	if diff := cmp.Diff(want, buf.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if e.Fields["content"] != nil {
		t.Error("encoding changed the event")
	}
	e.TaskID = "t"
	raw, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(raw), `"type":"task","task_id":"t"`) {
		t.Errorf("place of a task: %s, %v", raw, err)
	}
}
