package rest_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"unicode/utf8"
)

// fuzzed are the requests whose bodies are fuzzed.
func fuzzed() []request {
	return []request{
		post(alice, "/sessions", `{"id":"x","agent":"default","state":{"user:k":1},"metadata":{}}`),
		patch(alice, "/sessions/s", `{"name":"n","metadata":{"a":null}}`),
		post(alice, "/sessions/s/events", `{"events":[`+said("i1", "hi")+`],"expected_seq":0}`),
		post(alice, "/sessions/s/rewind", `{"rewind_before_invocation_id":"i1","scopes":["session"],"on_conflict":"keep","dry_run":true}`),
		post(alice, "/sessions/s/fork", `{"rewind_before_invocation_id":"i1","name":"f","strict":true,"dry_run":true}`),
		post(alice, "/sessions/s/runs", `{"input":[{"author":"user","content":{"parts":[{"text":"x"}]}}],"mode":"external","on_active":"cancel_and_merge","on_failed":"discard"}`),
		post(alice, "/sessions/s/runs/r/deltas", `{"item_id":"e","author":"a","deltas":[{"part":0,"text":"x"}]}`),
		patch(alice, "/sessions/s/runs/r", `{"status":"completed","keep_alive":true}`),
		post(alice, "/sessions/s/tasks", `{"task_id":"t","user_message":"m","message_bubbles":[{"id":"b","type":"user","text":"m"}],"task_metadata":{"status":"completed"}}`),
		post(alice, "/api/tasks", `{"id":"t","contextId":"s","kind":"task","status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z"},"history":[{"messageId":"m","role":"user","kind":"message","parts":[{"kind":"text","text":"x"}]}]}`),
		post(alice, "/feedback", `{"taskId":"t","feedbackType":"up","feedbackText":"x","sessionId":"s"}`),
		post(alice, "/webhooks", `{"url":"https://example.org/","events":["run.completed"],"session_id":"s"}`),
		post(alice, "/automations", `{"name":"n","on":"run.completed","agent":"default","input":"x"}`),
	}
}

// goErrorWords matches words of Go's own error messages, which must not leave
// the server.
var goErrorWords = regexp.MustCompile(`Go (value|struct)|json: |cannot unmarshal|interface \{\}|sessions|invalid URL escape|\brest\.[a-zA-Z]|session\.|map\[string\]|runtime error|strconv|net/url`)

// FuzzBodies sends arbitrary bodies to the routes that accept one. None causes
// an internal error, and no answer reveals Go's errors.
func FuzzBodies(f *testing.F) {
	s := newSystem(f)
	s.mustCreate(f, alice, `{"id":"s"}`)
	requests := fuzzed()
	for i, r := range requests {
		f.Add(uint8(i), r.body)
	}
	for _, body := range []string{`null`, `[]`, `{"events":null}`, `{"task_id":"t","message_bubbles":[null]}`, `{"id":"t","contextId":"s","history":[null],"status":{"timestamp":5}}`, `{"name":"\ud800"}`} {
		for i := range requests {
			f.Add(uint8(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		r := requests[int(which)%len(requests)]
		r.body = body
		wantNoFault(t, s, r)
	})
}

// FuzzQueries sends arbitrary queries, mainly cursors, to the lists.
func FuzzQueries(f *testing.F) {
	s := newSystem(f)
	s.mustCreate(f, alice, `{"id":"s"}`)
	s.mustAppend(f, "s", said("i1", "a"), said("i2", "b"), said("i3", "c"))
	lists := []string{
		"/sessions", "/sessions/s/events", "/sessions/s/thread", "/sessions/s/tasks", "/sessions/s/messages", "/sessions/s/forks",
		"/sessions/s/artifacts", "/sessions/s/artifacts/a/versions", "/feedback", "/webhooks", "/automations", "/sessions/s/artifacts/a", "/sessions/s/state",
	}
	next := decode[page[eventView]](f, s.must(f, http.StatusOK, get(alice, "/sessions/s/events?limit=1"))).Meta.NextCursor
	for i := range lists {
		f.Add(uint8(i), "limit=1&cursor="+*next)
		f.Add(uint8(i), "limit=-1&order=desc&view=all&after=99999999999999999999&version=-1")
		f.Add(uint8(i), "cursor=%ff&q=%00&status=idle&agent=a&session_id=s&task_id=t&type=up")
	}
	f.Fuzz(func(t *testing.T, which uint8, query string) {
		if _, err := url.Parse("/?" + query); err != nil { // the gateway refuses it
			return
		}
		for _, c := range []byte(query) {
			if c <= ' ' || c >= 0x7f || c == '#' {
				return
			}
		}
		wantNoFault(t, s, get(alice, lists[int(which)%len(lists)]+"?"+query))
	})
}

func wantNoFault(t *testing.T, s *system, r request) {
	t.Helper()
	got := s.do(t, r)
	if got.status >= 500 {
		t.Errorf("%s %s %q: got %d %s\nlog: %s", r.method, r.path, r.body, got.status, got.body, s.log)
	}
	if got.status >= 400 && goErrorWords.Match(got.body) || !utf8.Valid(got.body) {
		t.Errorf("%s %s %q: got %d %s", r.method, r.path, r.body, got.status, got.body)
	}
	s.log.Reset()
}
