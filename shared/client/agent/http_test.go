package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
)

func sse(events ...string) string {
	var out strings.Builder
	for _, e := range events {
		kind, data, _ := strings.Cut(e, " ")
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", kind, data)
	}
	return out.String()
}

func TestHTTPAnswers(t *testing.T) {
	const said = `completed {"id":"","invocation_id":"run-1","author":"helper","content":{"role":"model","parts":[{"text":"ab"}]}}`
	for name, c := range map[string]struct {
		sent []string
		want []string
	}{
		"an item is completed by done": {
			[]string{`item {}`, `delta {"part":0,"text":"a"}`, `delta {"part":0,"text":"b"}`, `done {}`},
			[]string{"item  helper model", `delta {"part":0,"text":"a"}`, `delta {"part":0,"text":"b"}`, said},
		},
		"a delta without an item begins one": {
			[]string{`delta {"part":0,"text":"ab"}`, `done {}`},
			[]string{"item  helper model", `delta {"part":0,"text":"ab"}`, said},
		},
		"an item is completed by the next item": {
			[]string{`item {"id":"1","author":"x","role":"user"}`, `item {"id":"2"}`, `done {}`},
			[]string{
				"item 1 x user", `completed {"id":"1","invocation_id":"run-1","author":"x","content":{"role":"user","parts":[]}}`,
				"item 2 helper model", `completed {"id":"2","invocation_id":"run-1","author":"helper","content":{"role":"model","parts":[]}}`,
			},
		},
		"an event with the item's id completes it and keeps the deltas' content": {
			[]string{`item {"id":"1","author":"x"}`, `delta {"part":0,"text":"<a>"}`, `event {"id":"1","x":"<&>","actions":{"state_delta":{"k":1,"temp:t":2}}}`, `done {}`},
			[]string{
				"item 1 x model", `delta {"part":0,"text":"\u003ca\u003e"}`,
				`completed {"id":"1","invocation_id":"run-1","author":"x","actions":{"state_delta":{"k":1}},"content":{"role":"model","parts":[{"text":"<a>"}]},"x":"<&>"}`,
			},
		},
		"a completing event's own content replaces the deltas'": {
			[]string{`item {"id":"1"}`, `delta {"part":0,"text":"a"}`, `event {"content":{"parts":[]}}`, `done {}`},
			[]string{
				"item 1 helper model", `delta {"part":0,"text":"a"}`,
				`completed {"id":"1","invocation_id":"run-1","author":"helper","content":{"parts":[]}}`,
			},
		},
		"an event with another id completes the item and is an event of its own": {
			[]string{`delta {"part":0,"text":"ab"}`, `event {"id":"2","author":"tool","invocation_id":"theirs"}`, `done {}`},
			[]string{
				"item  helper model", `delta {"part":0,"text":"ab"}`, said,
				`event {"id":"2","invocation_id":"run-1","author":"tool"}`,
			},
		},
		"an event that names an artifact that cannot exist is kept": {
			[]string{`event {"author":"a","actions":{"artifact_delta":{"a/b":1,"":0,"user:":2}}}`, `done {}`},
			[]string{`event {"id":"","invocation_id":"run-1","author":"a","actions":{"artifact_delta":{"a/b":1,"":0,"user:":2}}}`},
		},
		"partial events, pings and what follows done are left out": {
			[]string{`event {"partial":true,"content":{}}`, `ping`, `delta {"part":0,"text":"ab"}`, `done {}`, `nonsense {`},
			[]string{"item  helper model", `delta {"part":0,"text":"ab"}`, said},
		},
		"a call's arguments become an object": {
			[]string{`delta {"part":0,"function_call":{"id":"c","name":"f","args_text":"{\"a\""}}`, `delta {"part":0,"function_call":{"args_text":":1}"}}`, `done {}`},
			[]string{
				"item  helper model", `delta {"part":0,"function_call":{"id":"c","name":"f","args_text":"{\"a\""}}`,
				`delta {"part":0,"function_call":{"args_text":":1}"}}`,
				`completed {"id":"","invocation_id":"run-1","author":"helper","content":{"role":"model","parts":[{"function_call":{"id":"c","name":"f","args":{"a":1}}}]}}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRecord(t, newHTTP(t, streams(": comment\n\n"+sse(c.sent...))), ask(t, "hi"))
			if diff := cmp.Diff(c.want, r.log); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("accepts every line ending", func(t *testing.T) {
		answer := strings.ReplaceAll(sse(`delta {"part":0,`)+`data: "text":"ab"}`+"\n\n"+sse(`done {}`), "}\n\ndata", "}\ndata")
		answer = strings.Replace(answer, ",\n\ndata", ",\ndata", 1)
		r := mustRecord(t, newHTTP(t, streams("\ufeff"+strings.ReplaceAll(answer, "\n", "\r\n"))), ask(t, "hi"))
		if r.text() != "ab" {
			t.Errorf("got %q", r.log)
		}
	})
}

func TestHTTPWithoutStreaming(t *testing.T) {
	answers := func(body string) http.Handler { return says("application/json; charset=utf-8", body) }
	t.Run("whole events", func(t *testing.T) {
		r := mustRecord(t, newHTTP(t, answers(`{"events":[{"id":"1","content":{"parts":[{"text":"a"}]}},{"id":"2"}]}`)), ask(t, "hi"))
		want := []string{
			`event {"id":"1","invocation_id":"run-1","author":"helper","content":{"parts":[{"text":"a"}]}}`,
			`event {"id":"2","invocation_id":"run-1","author":"helper"}`,
		}
		if diff := cmp.Diff(want, r.log); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	for name, c := range map[string]struct{ body, code, says string }{
		"an error after events": {`{"events":[{}],"error":{"code":"e","message":"m"}}`, "e", "m"},
		"no events":             {`{}`, agent.CodeProtocol, "without having produced anything"},
		"malformed JSON":        {`{"events":`, agent.CodeProtocol, "malformed JSON"},
		"a malformed event":     {`{"events":[{},{"author":5}]}`, agent.CodeProtocol, "(number 2 of its answer): /author must be a string"},
		"too much":              {`{"events":[` + strings.Repeat(" ", 8<<20) + `]}`, run.CodeLimit, "more than 8388608 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := record(t, newHTTP(t, answers(c.body)), ask(t, "hi"))
			wantError(t, err, c.code, c.says)
		})
	}
}

func TestHTTPRefusesWhatBreaksTheProtocol(t *testing.T) {
	big := strings.Repeat("x", 600<<10)
	many := make([]string, run.MaxItems+2)
	for i := range many {
		many[i] = `item {}`
	}
	for name, c := range map[string]struct{ body, code, says string }{
		"no done":                              {sse(`delta {"part":0,"text":"a"}`), agent.CodeEndedEarly, "ended early"},
		"an empty stream":                      {"", agent.CodeEndedEarly, "ended early"},
		"an end within a line":                 {sse(`item {}`) + "event: del", agent.CodeEndedEarly, "ended early"},
		"done before anything":                 {sse(`done {}`), agent.CodeProtocol, "without having produced anything"},
		"an unknown type":                      {sse(`detla {}`), agent.CodeProtocol, `unknown type "detla"`},
		"no type":                              {"data: {}\n\n", agent.CodeProtocol, `unknown type ""`},
		"a malformed item":                     {sse(`item {"id":7}`), agent.CodeProtocol, "an item that is malformed (number 1"},
		"an item of unknown members":           {sse(`item {"name":"x"}`), agent.CodeProtocol, "an item that is malformed"},
		"a null item":                          {sse(`item null`), agent.CodeProtocol, "an item that is malformed"},
		"an item's invalid id":                 {sse(`item {"id":"a/b"}`), agent.CodeProtocol, "/id must not contain"},
		"an item's long author":                {sse(`item {"author":"` + strings.Repeat("a", 129) + `"}`), agent.CodeProtocol, "/author must be at most 128"},
		"an item's long role":                  {sse(`item {"role":"` + strings.Repeat("a", 33) + `"}`), agent.CodeProtocol, "/role must be at most 32"},
		"a delta of malformed JSON":            {sse(`ping {}`, `delta {"part":`), agent.CodeProtocol, "a delta that is malformed (number 2"},
		"a delta that leaves a gap":            {sse(`delta {"part":1,"text":"a"}`), agent.CodeProtocol, "/part must be at most 0"},
		"a delta of another kind":              {sse(`delta {"part":0,"text":"a"}`, `delta {"part":0,"thought":true,"text":"a"}`), agent.CodeProtocol, "/thought disagrees"},
		"an event that is no object":           {sse(`event []`), agent.CodeProtocol, "an event that is malformed (number 1 of its answer): must be an object"},
		"an event with an invalid state":       {sse(`event {"actions":{"state_delta":[]}}`), agent.CodeProtocol, "/actions/state_delta must be an object"},
		"unfinished arguments":                 {sse(`delta {"part":0,"function_call":{"name":"f","args_text":"{"}}`, `done {}`), run.CodeContent, "not whole"},
		"an error":                             {sse(`error {"code":"my.code-1","message":"a\nb"}`), "my.code-1", "a b"},
		"an error with an invalid code":        {sse(`error {"code":"a b","message":"m"}`), run.CodeAgent, "m"},
		"an error without a message":           {sse(`error {}`), run.CodeAgent, "without saying why"},
		"an error that is a text":              {sse(`error it broke`), run.CodeAgent, "it broke"},
		"an item that is too large":            {sse(`delta {"part":0,"text":"`+big+`"}`, `delta {"part":0,"text":"`+big+`"}`), run.CodeLimit, "an item of more than 1048576 bytes"},
		"an event that is too large":           {sse(`event {"x":"` + big + big + `"}`), run.CodeLimit, "an event of more than 1048576 bytes"},
		"a line that is too long":              {"data: " + strings.Repeat(big, 5), run.CodeLimit, "an event of more than"},
		"too many items":                       {sse(many...), run.CodeLimit, "more than 1000 items"},
		"an incomplete item that is completed": {sse(`delta {"part":0,"function_call":{"name":"f","args_text":"{"}}`, `item {}`), run.CodeContent, "not whole"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := record(t, newHTTP(t, streams(c.body)), ask(t, "hi"))
			wantError(t, err, c.code, c.says)
		})
	}
	t.Run("another content type", func(t *testing.T) {
		_, err := record(t, newHTTP(t, says("text/html", "<p>")), ask(t, "hi"))
		wantError(t, err, agent.CodeProtocol, `content type "text/html"`)
	})
}

func TestAReceiversErrorStopsTheCall(t *testing.T) {
	a := newHTTP(t, streams(sse(`item {}`, `delta {"part":0,"text":"a"}`, `done {}`)))
	calls := 0
	err := a.Run(t.Context(), ask(t, "hi"), func(run.Output) error {
		calls++
		return errStopped
	})
	if !errors.Is(err, errStopped) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestHTTPRequest(t *testing.T) {
	var got map[string]any
	var header http.Header
	a := newHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		streams(sse(`item {}`, `done {}`))(rw, r)
	}))
	mustRecord(t, a, run.Request{RunID: "run-1", Agent: "helper", Truncated: true})
	want := map[string]any{
		"protocol_version": 1.0, "run_id": "run-1", "session_id": "", "app_name": "", "user_id": "", "agent": "helper",
		"events": []any{}, "state": map[string]any{}, "history_truncated": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if header.Get("Accept") != "text/event-stream, application/json;q=0.5" || header.Get("Content-Type") != "application/json" {
		t.Errorf("header %v", header)
	}
	if _, sent := header["Idempotency-Key"]; sent {
		t.Error("an empty Idempotency-Key was sent")
	}
}

// Invalid text in an agent's answer is replaced; the rest is kept.
func TestHTTP_replaces_invalid_text(t *testing.T) {
	for name, body := range map[string]string{
		"a stream":      sse(`delta {"part":0,"text":"a\ud83d"}`, "delta {\"part\":0,\"text\":\"b\xc3\"}", `done {}`),
		"a whole event": sse("event {\"content\":{\"parts\":[{\"text\":\"\xff\\udc00\"}]}}", `done {}`),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := record(t, newHTTP(t, streams(body)), ask(t, "hi"))
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%q", r.log)
			if strings.Contains(text, `\x`) || strings.Contains(text, "ud83d") || strings.Contains(text, "udc00") {
				t.Errorf("got %s", text)
			}
		})
	}
}
