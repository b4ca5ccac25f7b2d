package content_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/content/contenttest"
)

func TestDeltaJSON(t *testing.T) {
	for name, c := range map[string]struct {
		raw   string
		delta content.Delta
	}{
		"text":             {`{"part":0,"text":"a<b"}`, content.Delta{Text: "a<b"}},
		"empty text":       {`{"part":2,"text":""}`, content.Delta{Part: 2}},
		"thinking":         {`{"part":0,"thought":true,"text":"…"}`, content.Delta{Thought: true, Text: "…"}},
		"a call begins":    {`{"part":1,"function_call":{"id":"c1","name":"search","args_text":"{"}}`, content.Delta{Part: 1, Call: &content.CallDelta{ID: "c1", Name: "search", ArgsText: "{"}}},
		"a call continues": {`{"part":1,"function_call":{"args_text":"}"}}`, content.Delta{Part: 1, Call: &content.CallDelta{ArgsText: "}"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := content.ParseDelta(json.RawMessage(c.raw), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.delta, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			raw, err := c.delta.MarshalJSON()
			if err != nil || string(raw) != c.raw {
				t.Errorf("renders %s, %v; want %s", raw, err, c.raw)
			}
		})
	}
	t.Run("a whole surrogate pair is one character", func(t *testing.T) {
		got, err := content.ParseDelta(json.RawMessage(`{"part":0,"text":"\\ud83d \ud83d\ude00\u00e9"}`), "")
		if err != nil || got.Text != `\ud83d 😀é` {
			t.Errorf("got %q, %v", got.Text, err)
		}
	})
}

func TestParseDeltaRefuses(t *testing.T) {
	long := strings.Repeat("é", 257)
	for name, c := range map[string]struct {
		raw, pointer string
		kind         fault.Kind
	}{
		"no object":                {`[]`, "", fault.Malformed},
		"broken JSON":              {`{"part":0,"text":"x"`, "", fault.Malformed},
		"no part":                  {`{"text":"x"}`, "/part", fault.Malformed},
		"a part of a wrong type":   {`{"part":"0","text":"x"}`, "/part", fault.Malformed},
		"half a part":              {`{"part":0.5,"text":"x"}`, "/part", fault.Malformed},
		"a negative part":          {`{"part":-1,"text":"x"}`, "/part", fault.Invalid},
		"a part too far":           {`{"part":256,"text":"x"}`, "/part", fault.Invalid},
		"nothing to append":        {`{"part":0}`, "", fault.Malformed},
		"text and a call":          {`{"part":0,"text":"x","function_call":{}}`, "", fault.Malformed},
		"text of a wrong type":     {`{"part":0,"text":5}`, "/text", fault.Malformed},
		"text null":                {`{"part":0,"text":null}`, "/text", fault.Malformed},
		"thought of a wrong type":  {`{"part":0,"text":"x","thought":1}`, "/thought", fault.Malformed},
		"a call thought":           {`{"part":0,"thought":true,"function_call":{}}`, "/thought", fault.Invalid},
		"a call no object":         {`{"part":0,"function_call":[]}`, "/function_call", fault.Malformed},
		"a call's id":              {`{"part":0,"function_call":{"id":7}}`, "/function_call/id", fault.Malformed},
		"a call's id too long":     {`{"part":0,"function_call":{"id":"` + long + `"}}`, "/function_call/id", fault.Invalid},
		"a call's name too long":   {`{"part":0,"function_call":{"name":"` + long + `"}}`, "/function_call/name", fault.Invalid},
		"a call's args":            {`{"part":0,"function_call":{"name":"f","args":{}}}`, "/function_call/args", fault.Invalid},
		"an unknown member":        {`{"part":0,"text":"x","a/b":1}`, "/a~1b", fault.Invalid},
		"another case":             {`{"part":0,"Text":"x"}`, "/Text", fault.Invalid},
		"bytes that are not UTF-8": {"{\"part\":0,\"text\":\"\xff\"}", "", fault.Malformed},
		"a first half of a pair":   {`{"part":0,"text":"\ud83d"}`, "", fault.Malformed},
		"a second half of a pair":  {`{"part":0,"text":"x\\\ude00"}`, "", fault.Malformed},
		"two first halves":         {`{"part":0,"text":"\ud83d\ud83d"}`, "", fault.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := content.ParseDelta(json.RawMessage(c.raw), "/deltas/3")
			wantFault(t, err, c.kind, "/deltas/3"+c.pointer)
		})
	}
}

func wantFault(t *testing.T, err error, kind fault.Kind, pointer string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Violations[0].Pointer != pointer {
		t.Errorf("got %v, want kind %d at %q", err, kind, pointer)
	}
}

func TestValidateRefusesWhatNoJSONHolds(t *testing.T) {
	wantFault(t, content.Delta{Text: "\xff"}.Validate(""), fault.Malformed, "/text")
	wantFault(t, content.Delta{Call: &content.CallDelta{ArgsText: "\xff"}}.Validate(""), fault.Malformed, "/function_call/args_text")
	wantFault(t, content.Delta{Text: "x", Call: &content.CallDelta{}}.Validate(""), fault.Invalid, "/text")
}

func TestSplit(t *testing.T) {
	t.Run("no piece exceeds the limit", func(t *testing.T) {
		got := content.Delta{Part: 1, Thought: true, Text: "aéb😀"}.Split(4)
		want := []content.Delta{{Part: 1, Thought: true, Text: "aéb"}, {Part: 1, Thought: true, Text: "😀"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a character that exceeds the limit stays whole", func(t *testing.T) {
		if diff := cmp.Diff([]content.Delta{{Text: "😀"}, {Text: "é"}}, content.Delta{Text: "😀é"}.Split(1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("an empty delta stays one delta", func(t *testing.T) {
		if diff := cmp.Diff([]content.Delta{{}}, content.Delta{}.Split(9)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("the first piece of a call names it", func(t *testing.T) {
		whole := content.Delta{Call: &content.CallDelta{ID: "c", Name: "f", ArgsText: `{"a":1}`}}
		want := []content.Delta{{Call: &content.CallDelta{ID: "c", Name: "f", ArgsText: `{"a"`}}, {Call: &content.CallDelta{ArgsText: `:1}`}}}
		if diff := cmp.Diff(want, whole.Split(4)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if whole.Call.Name != "f" || whole.Call.ArgsText != `{"a":1}` {
			t.Errorf("the delta itself changed: %+v", whole.Call)
		}
	})
}

func TestCoalesce(t *testing.T) {
	given := []content.Delta{
		{Text: "a"},
		{Text: "b"},
		{Part: 1, Thought: true, Text: "c"},
		{Text: "d"},
		{Part: 2, Call: &content.CallDelta{ID: "1", Name: "f", ArgsText: "{"}},
		{Part: 2, Call: &content.CallDelta{ArgsText: "}"}},
		{Part: 3, Call: &content.CallDelta{ID: "2", Name: "g"}},
	}
	want := []content.Delta{
		{Text: "ab"},
		{Part: 1, Thought: true, Text: "c"},
		{Text: "d"},
		{Part: 2, Call: &content.CallDelta{ID: "1", Name: "f", ArgsText: "{}"}},
		{Part: 3, Call: &content.CallDelta{ID: "2", Name: "g"}},
	}
	if diff := cmp.Diff(want, content.Coalesce(given)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if given[0].Text != "a" || given[4].Call.ArgsText != "{" {
		t.Error("what was given changed")
	}
	if got := content.Coalesce(nil); got != nil {
		t.Errorf("nothing becomes %v", got)
	}
}

func TestAnyDeltaReadsBackTheSame(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		for _, d := range contenttest.Deltas(t) {
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			var again content.Delta
			if err := json.Unmarshal(raw, &again); err != nil {
				t.Fatalf("read %s: %v", raw, err)
			}
			if diff := cmp.Diff(d, again); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", raw, diff)
			}
			for _, piece := range d.Split(3) {
				if err := piece.Validate(""); err != nil || (piece.Size() > 4 && !opens(piece)) {
					t.Fatalf("piece %+v of %s: %v", piece, raw, err)
				}
			}
		}
	})
}

func opens(d content.Delta) bool { return d.Call != nil && d.Call.Name != "" }
