package content_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/content/contenttest"
)

func mustContent(t interface {
	Helper()
	Fatalf(string, ...any)
}, deltas ...content.Delta,
) *content.Draft {
	t.Helper()
	c := content.NewDraft("model")
	for i, d := range deltas {
		if err := c.Append(d, ""); err != nil {
			t.Fatalf("delta %d, %+v: %v", i, d, err)
		}
	}
	return c
}

func callDelta(part int, name, args string) content.Delta {
	return content.Delta{Part: part, Call: &content.CallDelta{Name: name, ArgsText: args}}
}

func TestContent(t *testing.T) {
	c := mustContent(t,
		content.Delta{Thought: true, Text: "hm"},
		content.Delta{Part: 1, Text: "a<"},
		content.Delta{Part: 2, Call: &content.CallDelta{ID: "c1", Name: "search"}},
		callDelta(2, "", `{"q": `),
		content.Delta{Part: 1, Text: "b"},
	)
	t.Run("a snapshot holds unfinished arguments as text", func(t *testing.T) {
		want := `{"role":"model","parts":[{"thought":true,"text":"hm"},{"text":"a<b"},` +
			`{"function_call":{"id":"c1","name":"search","args_text":"{\"q\": "}}]}`
		if diff := cmp.Diff(want, string(c.Snapshot())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("arguments must be complete in the end", func(t *testing.T) {
		_, err := c.Finish()
		wantFault(t, err, fault.Invalid, "/parts/2/function_call/args_text")
	})
	if err := c.Append(callDelta(2, "", `"<x>"}`), ""); err != nil {
		t.Fatal(err)
	}
	t.Run("complete arguments are an object", func(t *testing.T) {
		want := `{"role":"model","parts":[{"thought":true,"text":"hm"},{"text":"a<b"},` +
			`{"function_call":{"id":"c1","name":"search","args":{"q":"<x>"}}}]}`
		got, err := c.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	if want := len("hm" + "a<b" + "c1" + "search" + `{"q": "<x>"}`); c.Size() != want || c.Parts() != 3 {
		t.Errorf("size %d of %d parts, want %d of 3", c.Size(), c.Parts(), want)
	}
	t.Run("no deltas yield an empty content", func(t *testing.T) {
		if got := string(content.NewDraft("model").Snapshot()); got != `{"role":"model","parts":[]}` {
			t.Errorf("got %s", got)
		}
	})
}

func TestFinishArguments(t *testing.T) {
	for text, want := range map[string]string{
		"":                              `{}`,
		" \n":                           `{}`,
		` {"a":1.0} `:                   `{"a":1.0}`,
		`{"a":1}{}`:                     "",
		`[1]`:                           "",
		`"{}"`:                          "",
		`null`:                          "",
		`{"a":`:                         "",
		`{"big":1e999}`:                 `{"big":1e999}`,
		`{"s":"\ud83d"}`:                "",
		`{"s":"\ud83d\ude00"}`:          `{"s":"\ud83d\ude00"}`,
		nested(jsonx.MaxInnerDepth):     nested(jsonx.MaxInnerDepth),
		nested(jsonx.MaxInnerDepth + 1): "",
		nested(9_998):                   "",
		nested(20_000):                  "",
		`{"id":99999999}`:               `{"id":99999999}`,
	} {
		got, err := mustContent(t, callDelta(0, "f", text)).Finish()
		if want == "" {
			at := "/parts/0/function_call/args_text"
			if strings.Contains(text, `\u`) {
				at += "/s"
			}
			wantFault(t, err, fault.Invalid, at)
			continue
		}
		if whole := `{"role":"model","parts":[{"function_call":{"name":"f","args":` + want + `}}]}`; string(got) != whole {
			t.Errorf("%q becomes %s, %v; want %s", text, got, err, whole)
		}
	}
}

// nested returns objects within each other.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + `{}` + strings.Repeat("}", depth-1)
}

// A character may be split between deltas, as models stream it.
func TestFinishArguments_of_fragments(t *testing.T) {
	whole := mustContent(t, callDelta(0, "f", `{"s":"\ud8`), callDelta(0, "", `3d`), callDelta(0, "", `\ude00"}`))
	if got, err := whole.Finish(); err != nil || !strings.Contains(string(got), `\ud83d\ude00`) {
		t.Errorf("got %s, %v", got, err)
	}
	half := mustContent(t, callDelta(0, "f", `{"s":"\ud8`), callDelta(0, "", `3d"}`))
	_, err := half.Finish()
	wantFault(t, err, fault.Invalid, "/parts/0/function_call/args_text/s")
}

func TestAppendRefuses(t *testing.T) {
	parts := []content.Delta{{Text: "a"}, {Part: 1, Thought: true, Text: "b"}, callDelta(2, "f", "")}
	for name, c := range map[string]struct {
		delta   content.Delta
		pointer string
		kind    fault.Kind
	}{
		"a part that leaves a gap": {content.Delta{Part: 4, Text: "x"}, "/part", fault.Invalid},
		"a call without a name":    {callDelta(3, "", "{"), "/function_call/name", fault.Invalid},
		"thinking in text":         {content.Delta{Thought: true}, "/thought", fault.Invalid},
		"text in thinking":         {content.Delta{Part: 1, Text: "x"}, "/thought", fault.Invalid},
		"a call in text":           {callDelta(0, "f", ""), "/function_call", fault.Invalid},
		"text in a call":           {content.Delta{Part: 2, Text: "x"}, "/text", fault.Invalid},
		"a call renamed":           {callDelta(2, "g", ""), "/function_call/name", fault.Invalid},
		"a call's id again":        {content.Delta{Part: 2, Call: &content.CallDelta{ID: "i"}}, "/function_call/id", fault.Invalid},
		"what is no UTF-8":         {content.Delta{Text: "\xc3"}, "/text", fault.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			content := mustContent(t, parts...)
			before, size := string(content.Snapshot()), content.Size()
			wantFault(t, content.Append(c.delta, "/deltas/0"), c.kind, "/deltas/0"+c.pointer)
			if string(content.Snapshot()) != before || content.Size() != size {
				t.Errorf("the content changed to %s", content.Snapshot())
			}
		})
	}
}

func TestResumeContentRefuses(t *testing.T) {
	for raw, pointer := range map[string]string{
		`[]`:                                        "",
		`{"role":5,"parts":[]}`:                     "/role",
		`{"parts":{}}`:                              "/parts",
		`{"parts":[null]}`:                          "/parts/0",
		`{"parts":[{"text":5}]}`:                    "/parts/0/text",
		`{"parts":[{"inline_data":{}}]}`:            "/parts/0/inline_data",
		`{"parts":[{"function_call":{}}]}`:          "/parts/0/function_call/name",
		`{"parts":[{"function_call":{"args":{}}}]}`: "/parts/0/function_call/args",
	} {
		_, err := content.ResumeDraft(json.RawMessage(raw))
		kind := fault.Malformed
		if strings.Contains(raw, "inline_data") || strings.Contains(raw, "function_call") {
			kind = fault.Invalid
		}
		wantFault(t, err, kind, pointer)
	}
}

func TestAnyDivisionMakesTheSameContent(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		deltas := contenttest.Deltas(t)
		want := string(mustContent(t, deltas...).Snapshot())
		var pieces []content.Delta
		for _, d := range deltas {
			pieces = append(pieces, d.Split(rapid.IntRange(0, 8).Draw(t, "bytes"))...)
		}
		if got := string(mustContent(t, pieces...).Snapshot()); got != want {
			t.Fatalf("in pieces %s, want %s", got, want)
		}
		joined := content.Coalesce(pieces)
		if got := string(mustContent(t, joined...).Snapshot()); got != want {
			t.Fatalf("joined %s, want %s", got, want)
		}
		if len(joined) > len(deltas) {
			t.Fatalf("%d deltas become %d", len(deltas), len(joined))
		}
	})
}

func TestASnapshotAndTheRestMakeTheSameContent(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		deltas := contenttest.Deltas(t)
		whole := mustContent(t, deltas...)
		k := rapid.IntRange(0, len(deltas)).Draw(t, "k")
		resumed, err := content.ResumeDraft(mustContent(t, deltas[:k]...).Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range deltas[k:] {
			if err := resumed.Append(d, ""); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := string(resumed.Snapshot()), string(whole.Snapshot()); got != want || resumed.Size() != whole.Size() {
			t.Fatalf("resumed after %d: %s, want %s", k, got, want)
		}
	})
}
