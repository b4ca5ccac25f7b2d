package content_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/content"
)

// FuzzParseDelta checks that a parsed delta encodes as its input, and that a
// content accepts or refuses it without panicking.
func FuzzParseDelta(f *testing.F) {
	for _, seed := range []string{
		`{"part":0,"text":"a"}`, `{"part":1,"thought":true,"text":"…"}`,
		`{"part":0,"function_call":{"id":"1","name":"f","args_text":"{\"a\":"}}`,
		`{"part":-1,"text":""}`, `{"part":1e9,"text":"x"}`, `{"part":0,"text":"\ud800"}`, `{"part":0,"text":"a","function_call":{}}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) || !utf8.Valid(raw) { // such a body is refused earlier
			return
		}
		d, err := content.ParseDelta(raw, "/deltas/0")
		if err != nil {
			return
		}
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("%s is not written: %v", raw, err)
		}
		again, err := content.ParseDelta(written, "")
		if err != nil {
			t.Fatalf("%s is written as %s, which is not read: %v", raw, written, err)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Errorf("%s read again (-want +got):\n%s", raw, diff)
		}
		draft := content.NewDraft("model")
		if draft.Append(d, "") == nil {
			if whole, err := draft.Finish(); err == nil && !json.Valid(whole) {
				t.Errorf("%s makes the content %s", raw, whole)
			}
		}
	})
}
