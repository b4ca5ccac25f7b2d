package bus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/bus"
)

func put(t *testing.T, b *bus.Bus, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", "AWSEvents.PutEvents")
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func newBus(log *bytes.Buffer) *bus.Bus {
	return bus.New(slog.New(slog.NewTextHandler(log, nil)), func() time.Time { return time.UnixMilli(5) })
}

func TestPutEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body, says string
		status     int
	}{
		"accepts an entry":                       {`{"Entries":[{"Source":"a","DetailType":"b","Detail":"{}","Time":1.5}]}`, `"FailedEntryCount":0,"Entries":[{"EventId":"`, 200},
		"refuses an entry without a source":      {`{"Entries":[{"DetailType":"b","Detail":"{}"}]}`, `"FailedEntryCount":1,"Entries":[{"ErrorCode":"InvalidArgument"`, 200},
		"refuses an entry with a source of AWS":  {`{"Entries":[{"Source":"aws.x","DetailType":"b","Detail":"{}"}]}`, "NotAuthorizedForSource", 200},
		"refuses an entry without a detail type": {`{"Entries":[{"Source":"a","Detail":"{}"}]}`, "DetailType is a required argument", 200},
		"refuses an entry without a detail":      {`{"Entries":[{"Source":"a","DetailType":"b"}]}`, "Detail is a required argument", 200},
		"refuses a detail that is not an object": {`{"Entries":[{"Source":"a","DetailType":"b","Detail":"[]"}]}`, "MalformedDetail", 200},
		"refuses an empty request":               {`{"Entries":[]}`, "ValidationException", 400},
		"refuses eleven entries":                 {`{"Entries":[{},{},{},{},{},{},{},{},{},{},{}]}`, "ValidationException", 400},
		"refuses more than a megabyte": {
			fmt.Sprintf(`{"Entries":[{"Source":"a","DetailType":"b","Detail":"{\"a\":\"%s\"}"}]}`, strings.Repeat("x", 1<<20)), "ValidationException", 400,
		},
		"refuses invalid JSON": {`{`, "SerializationException", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, got := put(t, newBus(&bytes.Buffer{}), test.body)
			if status != test.status || !strings.Contains(got, test.says) {
				t.Errorf("%d %s", status, got)
			}
		})
	}
	t.Run("refuses other operations", func(t *testing.T) {
		t.Parallel()
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}"))
		r.Header.Set("X-Amz-Target", "AWSEvents.PutRule")
		newBus(&bytes.Buffer{}).ServeHTTP(w, r)
		if w.Code != 400 || !strings.Contains(w.Body.String(), "UnknownOperationException") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := newBus(&log)
	list := func() string {
		w := httptest.NewRecorder()
		b.List(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", nil))
		return strings.TrimSpace(w.Body.String())
	}
	if got := list(); got != "[]" {
		t.Errorf("events before the first request: %s", got)
	}
	put(t, b, `{"Entries":[{"Source":"a","DetailType":"one","Detail":"{\"n\":1}","Time":1.5},
		{"Source":"a"},{"Source":"a","DetailType":"two","Detail":"{}","EventBusName":"mine"}]}`)
	var got []bus.Event
	if err := json.Unmarshal([]byte(list()), &got); err != nil || len(got) != 2 {
		t.Fatalf("%v: %v", err, got)
	}
	want := []bus.Event{
		{ID: got[0].ID, Bus: "default", Source: "a", DetailType: "one", Detail: json.RawMessage(`{"n":1}`), Time: time.UnixMilli(1500).UTC()},
		{ID: got[1].ID, Bus: "mine", Source: "a", DetailType: "two", Detail: json.RawMessage(`{}`), Time: time.UnixMilli(5).UTC()},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), "type=two") {
		t.Errorf("the log: %s", log.String())
	}
}
