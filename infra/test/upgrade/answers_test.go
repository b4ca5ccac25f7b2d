package upgrade_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Minimum size of a kept table.
const (
	minItems                = 1900
	minAnswers, minMessages = 3000, 650 // over HTTP; over websockets
)

// TestAnswers checks that this version returns the old version's answers from the
// same table, except those that were changed on purpose.
func TestAnswers(t *testing.T) {
	t.Parallel()
	each(t, testAnswers)
}

func testAnswers(t *testing.T, of kept) {
	t.Helper()
	items, answers := of.items(t), of.answers(t)
	s := newSystem(t, items, of.story(t).now(), 1)
	requests, messages := 0, 0
	for _, a := range answers {
		if a.Method == "SOCKET" {
			messages++
			compareFrames(t, a, s.say(t, a.User, a.Scope, "conn-new", a.Body))
			continue
		}
		requests++
		compareAnswer(t, a, s.do(t, request{a.User, a.Scope, a.Method, a.Path, a.Body, a.Header}))
	}
	if len(items) < minItems || requests < minAnswers || messages < minMessages {
		t.Errorf("%d items, %d requests, %d messages; want %d, %d and %d", len(items), requests, messages, minItems, minAnswers, minMessages)
	}
	t.Logf("%d items, %d requests, %d messages", len(items), requests, messages)
	if t.Failed() {
		t.Logf("the log: %.2000s", s.said)
	}
}

func compareAnswer(t *testing.T, want answer, got *httptest.ResponseRecorder) {
	t.Helper()
	about := want.User + " " + want.Method + " " + want.Path + " " + want.Body
	if got.Code != want.Status || got.Header().Get("Content-Type") != want.Type || got.Header().Get("ETag") != want.ETag {
		t.Errorf("%.300s: status %d, %s, ETag %s; want %d, %s, %s: %.500s", about,
			got.Code, got.Header().Get("Content-Type"), got.Header().Get("ETag"), want.Status, want.Type, want.ETag, got.Body)
		return
	}
	switch {
	case want.SHA256 != "":
		if sum := hash(got.Body.Bytes()); sum != want.SHA256 {
			t.Errorf("%s: other bytes, %d of them, want %d", about, got.Body.Len(), want.Bytes)
		}
	case want.JSON != nil:
		compareJSON(t, about, want.JSON, got.Body.Bytes())
	default:
		if diff := cmp.Diff(want.Text, got.Body.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", about, diff)
		}
	}
	if want.Header["Idempotency-Key"] != "" && want.Status < http.StatusMultipleChoices && got.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s: done again instead of answered as before", about)
	}
}

func compareFrames(t *testing.T, want answer, got []frame) {
	t.Helper()
	about := want.User + " " + want.Body
	if len(got) != len(want.Frames) {
		t.Errorf("%s: %d messages, want %d", about, len(got), len(want.Frames))
		return
	}
	for i, m := range got {
		if w := want.Frames[i]; w.Connection != m.Connection || string(w.Message) != `"`+hash(m.Message)+`"` {
			compareJSON(t, about, w.Message, m.Message)
		}
	}
}

func hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func compareJSON(t *testing.T, about string, want, got []byte) {
	t.Helper()
	if diff := cmp.Diff(decode(t, want), decode(t, got)); diff != "" {
		t.Errorf("%.300s (-want +got):\n%.3000s", about, diff)
	}
}

// decode decodes JSON, with numbers as text and without members that differ each
// time.
func decode(t *testing.T, body []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	forget(v)
	return v
}

// forget removes what differs each time: the time of an A2A error, and the random
// id of the event by which the first reader ends a run whose worker is lost.
func forget(v any) {
	switch v := v.(type) {
	case map[string]any:
		if metadata, ok := v["metadata"].(map[string]any); ok && v["@type"] == "type.googleapis.com/google.rpc.ErrorInfo" {
			delete(metadata, "timestamp")
		}
		if ended, ok := v["run"].(map[string]any); ok {
			if problem, ok := ended["error"].(map[string]any); ok && problem["code"] == "worker_lost" {
				delete(v, "id")
			}
		}
		for _, member := range v {
			forget(member)
		}
	case []any:
		for _, member := range v {
			forget(member)
		}
	}
}
