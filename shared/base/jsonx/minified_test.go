package jsonx_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/jsonx"
)

func TestMinified(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		" { \"a b\" :\t1 ,\r\n":    `{"a b":1,`,
		`{"a": "say \" \\" , "b" `: `{"a":"say \" \\","b"`,
		`{"a": "not \`:             `{"a":"not \`,
		`[ "un closed`:             `["un closed`,
	} {
		if got := jsonx.Minified(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A complete value is that of encoding/json, and what is minified of its beginning is the
// beginning of that.
func TestMinified_property(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		value := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "value")
		text, err := json.MarshalIndent(value, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, text); err != nil {
			t.Fatal(err)
		}
		if got := jsonx.Minified(string(text)); got != want.String() {
			t.Fatalf("%q, want %q", got, &want)
		}
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		if got := jsonx.Minified(string(text[:cut])); !bytes.HasPrefix(want.Bytes(), []byte(got)) {
			t.Fatalf("cut at %d: %q is no beginning of %q", cut, got, &want)
		}
	})
}
