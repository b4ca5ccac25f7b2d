package jsonx_test

import (
	"encoding/json"
	"testing"

	"github.com/rethread/rethread/shared/base/jsonx"
)

func TestMarshal(t *testing.T) {
	t.Parallel()
	got, err := jsonx.Marshal(map[string]any{"a": "<b> & \"c\"", "raw": json.RawMessage(`{"n":1.0,"h":"<&>"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"<b> & \"c\"","raw":{"n":1.0,"h":"<&>"}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := jsonx.Marshal(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}
