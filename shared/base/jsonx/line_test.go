package jsonx_test

import (
	"testing"

	"github.com/rethread/rethread/shared/base/jsonx"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":"b – c"}`:                           `{"a":"b – c"}`,
		"data: {\"a\":\"\u0085b\u2028\u2029\"}\n": `data: {"a":"\u0085b\u2028\u2029"}` + "\n",
	} {
		if got := string(jsonx.Line([]byte(text))); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
