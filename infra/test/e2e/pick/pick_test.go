package pick_test

import (
	"errors"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e/pick"
)

func TestText(t *testing.T) {
	body := []byte(`{"data": [{"id": "a\n", "n": 1.50, "user:x": null}, {"id": "b"}], "meta": {}}`)
	for path, want := range map[string]string{
		"data.0.id": "a\n", "$.data[1].id": "b", "data.-1.id": "b", "data.0.n": "1.50",
		"data.0.user:x": "null", "meta": "{}", "$.data[1]": `{"id":"b"}`,
	} {
		if got, err := pick.Text(body, path); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"data.2.id", "nothing", "meta.next_cursor"} {
		if _, err := pick.Text(body, path); !errors.Is(err, pick.ErrAbsent) {
			t.Errorf("%s: %v, want ErrAbsent", path, err)
		}
	}
}
