package jsonx_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/jsonx"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{}`, ` { } `, `{"a":1}`, "\n{ \"a\" : [ 1 , {\"b\":\"}\"} ] ,\t\"c\":null}\r\n", `{"a":"\\","b":"\"\\\"","\u0061":true,"é":-1.5e+3}`,
		`{"a":1,"a":2}`, `{"":{"":""}}`, `[]`, `null`, `"{}"`, `17`, "{\"\xff\":\"\xff\"}", `{"\ud800":"\ud800"}`, `{"a":[[],[[{}]]],"b":false}`,
	} {
		compareMembers(t, []byte(raw))
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`[]`, ` [ ] `, `[1]`, `[ 1 , "a]" , {"b":[2,3]},null ]`, `[[],[[]],"\"]\\"]`, `{}`, `null`, `1`,
	} {
		compareElements(t, []byte(raw))
	}
}

// FuzzSplit compares the parts of any valid JSON with those that encoding/json finds.
func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\"",{"b":null}], "c" : -1e5}`))
	f.Add([]byte(`[ true, {"a":"\\"} , [] ]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if json.Valid(raw) {
			compareMembers(t, raw)
			compareElements(t, raw)
		}
	})
}

func compareMembers(t *testing.T, raw []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	_ = json.Unmarshal(raw, &want) // nil for other values
	got, ok := jsonx.Members(raw)
	if diff := cmp.Diff(want, got); diff != "" || ok != (want != nil) {
		t.Errorf("members of %q, an object: %v (-want +got)\n%s", raw, ok, diff)
	}
}

func compareElements(t *testing.T, raw []byte) {
	t.Helper()
	var want []json.RawMessage
	_ = json.Unmarshal(raw, &want) // nil for other values
	got, ok := jsonx.Elements(raw)
	if len(got) != len(want) || ok != (want != nil) {
		t.Fatalf("%d elements of %q, want %d", len(got), raw, len(want))
	}
	for i := range want {
		if string(got[i]) != string(want[i]) {
			t.Errorf("element %d of %q: %s, want %s", i, raw, got[i], want[i])
		}
	}
}

func TestAppendString(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain <&> text", `a "quoted" \ one`, "line\nbreak", "é", "\u2028", "\xff", "\x00\x1f\x7f"} {
		want, err := jsonx.Marshal([]string{s})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(jsonx.AppendString([]byte("["), s)) + "]"; got != string(want) {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	}
}
