package jsonx_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/jsonx"
)

func TestCheck(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":["x",{"b/c":"\ud800"}]}`: "/a/1/b~1c",
		`{"a":"\udc00\ud800"}`:         "/a",
		`{"a":1,"\ud83d":2}`:           "/\uFFFD",
		`["\ud83dx"]`:                  "/0",
		`[1,[2],"` + "\xff" + `"]`:     "/2",
		`"\ud83d\ud83d\ude00"`:         "",
		strings.Repeat("[", 501) + "1" + strings.Repeat("]", 501): "",
	} {
		flaw := jsonx.Check([]byte(raw))
		if flaw == nil || flaw.Pointer != want || flaw.Reason == "" {
			t.Errorf("%.40s: %+v, want %q", raw, flaw, want)
		}
	}
	for _, raw := range []string{
		`{"a":"\ud83d\ude00 \\ud800 \"\\\\ud800"}`, `"😀"`, `"\u00e9"`, `{}`, `5`,
		strings.Repeat("[", 500) + strings.Repeat("]", 500), `"` + strings.Repeat("[", 600) + `"`,
	} {
		if flaw := jsonx.Check([]byte(raw)); flaw != nil {
			t.Errorf("%.40s: %+v", raw, flaw)
		}
	}
}

func TestMend(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":"\ud800","b":"\ud83d\ude00"}`: `{"a":"\ufffd","b":"\ud83d\ude00"}`,
		`"\udc00\ud800x"`:                   `"\ufffd\ufffdx"`,
		"\"\xff\"":                          "\"\uFFFD\"",
		`"\\ud800"`:                         `"\\ud800"`,
	} {
		if got := string(jsonx.Mend([]byte(raw))); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// A mended value has no flaw, and encoding/json reads it like the original.
func TestMend_reads_the_same(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{
			`\ud800`, `\udfff`, `\ud83d`, `\ude00`, `\\`, `\"`, `\u0041`, "x", "é", "\xff", "\xed\xa0\x80", "[", "{",
		})).Draw(t, "pieces")
		raw := []byte(`{"a":["` + strings.Join(pieces, "") + `"]}`)
		mended := jsonx.Mend(raw)
		if flaw := jsonx.Check(mended); flaw != nil || !utf8.Valid(mended) {
			t.Fatalf("%s: %+v", mended, flaw)
		}
		var want, got map[string][]string
		if json.Unmarshal(raw, &want) != nil || json.Unmarshal(mended, &got) != nil {
			t.Fatalf("%s is not JSON", raw)
		}
		if strings.ReplaceAll(want["a"][0], "\uFFFD", "") != strings.ReplaceAll(got["a"][0], "\uFFFD", "") {
			t.Fatalf("%q, want %q", got, want)
		}
		if (jsonx.Check(raw) == nil) != (string(raw) == string(mended)) {
			t.Fatalf("%s was mended to %s", raw, mended)
		}
	})
}
