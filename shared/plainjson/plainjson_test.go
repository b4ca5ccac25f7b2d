package plainjson_test

import (
	"encoding/json"
	"testing"

	"github.com/rethread/rethread/shared/plainjson"
)

func TestMarshal(t *testing.T) {
	t.Parallel()
	got, err := plainjson.Marshal(map[string]any{"a": "<b> & \"c\"", "raw": json.RawMessage(`{"n":1.0,"h":"<&>"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"<b> & \"c\"","raw":{"n":1.0,"h":"<&>"}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := plainjson.Marshal(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}
