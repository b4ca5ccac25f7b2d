package a2a_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
)

// TestProtoNames sends parameters under the names of the protocol's proto
// files.
func TestProtoNames(t *testing.T) {
	h := newPushServer(t)
	begun := h.mustTask(t, h.mustDial(t, alice, lib.TransportProtocolJSONRPC, "1.0"), nil)
	call := func(method, params string) string {
		t.Helper()
		body := fmt.Sprintf(`{"jsonrpc": "2.0", "id": 1, "method": %q, "params": %s}`, method, params)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+"/a2a/helper", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("A2A-Version", "1.0")
		answer, err := (&http.Client{Transport: as(alice)}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // it is only read
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	got := call("CreateTaskPushNotificationConfig", fmt.Sprintf(`{"task_id": %q, "id": "c", "url": "https://example.com/"}`, begun.ID))
	if !strings.Contains(got, `"taskId":"`+string(begun.ID)+`"`) {
		t.Errorf("created %s", got)
	}
	got = call("ListTaskPushNotificationConfigs", fmt.Sprintf(`{"task_id": %q, "page_size": 1000}`, begun.ID))
	if !strings.Contains(got, "pageSize must be 1 to 100") {
		t.Errorf("listed %s", got)
	}
}
