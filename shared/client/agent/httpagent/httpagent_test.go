package httpagent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

func TestAnswers(t *testing.T) {
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
			r := agenttest.MustRecord(t, agenttest.NewHTTP(t, agenttest.Streams(": comment\n\n"+agenttest.SSE(c.sent...))), agenttest.Ask(t, "hi"))
			if diff := cmp.Diff(c.want, r.Log); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("accepts every line ending", func(t *testing.T) {
		answer := strings.ReplaceAll(agenttest.SSE(`delta {"part":0,`)+`data: "text":"ab"}`+"\n\n"+agenttest.SSE(`done {}`), "}\n\ndata", "}\ndata")
		answer = strings.Replace(answer, ",\n\ndata", ",\ndata", 1)
		r := agenttest.MustRecord(t, agenttest.NewHTTP(t, agenttest.Streams("\ufeff"+strings.ReplaceAll(answer, "\n", "\r\n"))), agenttest.Ask(t, "hi"))
		if r.Text() != "ab" {
			t.Errorf("got %q", r.Log)
		}
	})
}

func TestWithoutStreaming(t *testing.T) {
	answers := func(body string) http.Handler { return agenttest.Says("application/json; charset=utf-8", body) }
	t.Run("whole events", func(t *testing.T) {
		r := agenttest.MustRecord(t, agenttest.NewHTTP(t, answers(`{"events":[{"id":"1","content":{"parts":[{"text":"a"}]}},{"id":"2"}]}`)), agenttest.Ask(t, "hi"))
		want := []string{
			`event {"id":"1","invocation_id":"run-1","author":"helper","content":{"parts":[{"text":"a"}]}}`,
			`event {"id":"2","invocation_id":"run-1","author":"helper"}`,
		}
		if diff := cmp.Diff(want, r.Log); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	for name, c := range map[string]struct{ body, code, says string }{
		"an error after events": {`{"events":[{}],"error":{"code":"e","message":"m"}}`, "e", "m"},
		"no events":             {`{}`, endpoint.CodeProtocol, "without having produced anything"},
		"malformed JSON":        {`{"events":`, endpoint.CodeProtocol, "malformed JSON"},
		"a malformed event":     {`{"events":[{},{"author":5}]}`, endpoint.CodeProtocol, "(number 2 of its answer): /author must be a string"},
		"too much":              {`{"events":[` + strings.Repeat(" ", 8<<20) + `]}`, run.CodeLimit, "more than 8388608 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agenttest.Record(t, agenttest.NewHTTP(t, answers(c.body)), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, c.says)
		})
	}
}

func TestRefusesWhatBreaksTheProtocol(t *testing.T) {
	big := strings.Repeat("x", 600<<10)
	many := make([]string, run.MaxItems+2)
	for i := range many {
		many[i] = `item {}`
	}
	for name, c := range map[string]struct{ body, code, says string }{
		"no done":                              {agenttest.SSE(`delta {"part":0,"text":"a"}`), endpoint.CodeEndedEarly, "ended early"},
		"an empty stream":                      {"", endpoint.CodeEndedEarly, "ended early"},
		"an end within a line":                 {agenttest.SSE(`item {}`) + "event: del", endpoint.CodeEndedEarly, "ended early"},
		"done before anything":                 {agenttest.SSE(`done {}`), endpoint.CodeProtocol, "without having produced anything"},
		"an unknown type":                      {agenttest.SSE(`detla {}`), endpoint.CodeProtocol, `unknown type "detla"`},
		"no type":                              {"data: {}\n\n", endpoint.CodeProtocol, `unknown type ""`},
		"a malformed item":                     {agenttest.SSE(`item {"id":7}`), endpoint.CodeProtocol, "an item that is malformed (number 1"},
		"an item whose id is a path":           {agenttest.SSE(`item {"id":".."}`), endpoint.CodeProtocol, "an item that is malformed (number 1"},
		"an event whose id is a path":          {agenttest.SSE(`event {"id":".","content":{"parts":[{"text":"x"}]}}`), endpoint.CodeProtocol, "an event that is malformed (number 1"},
		"an event whose id has a ?":            {agenttest.SSE(`event {"id":"a?","content":{"parts":[{"text":"x"}]}}`), endpoint.CodeProtocol, "an event that is malformed (number 1"},
		"an item of unknown members":           {agenttest.SSE(`item {"name":"x"}`), endpoint.CodeProtocol, "an item that is malformed"},
		"a null item":                          {agenttest.SSE(`item null`), endpoint.CodeProtocol, "an item that is malformed"},
		"an item's invalid id":                 {agenttest.SSE(`item {"id":"a/b"}`), endpoint.CodeProtocol, "/id must not contain"},
		"an item's long author":                {agenttest.SSE(`item {"author":"` + strings.Repeat("a", 129) + `"}`), endpoint.CodeProtocol, "/author must be at most 128"},
		"an item's long role":                  {agenttest.SSE(`item {"role":"` + strings.Repeat("a", 33) + `"}`), endpoint.CodeProtocol, "/role must be at most 32"},
		"a delta of malformed JSON":            {agenttest.SSE(`ping {}`, `delta {"part":`), endpoint.CodeProtocol, "a delta that is malformed (number 2"},
		"a delta that leaves a gap":            {agenttest.SSE(`delta {"part":1,"text":"a"}`), endpoint.CodeProtocol, "/part must be at most 0"},
		"a delta of another kind":              {agenttest.SSE(`delta {"part":0,"text":"a"}`, `delta {"part":0,"thought":true,"text":"a"}`), endpoint.CodeProtocol, "/thought disagrees"},
		"an event that is no object":           {agenttest.SSE(`event []`), endpoint.CodeProtocol, "an event that is malformed (number 1 of its answer): must be an object"},
		"an event with an invalid state":       {agenttest.SSE(`event {"actions":{"state_delta":[]}}`), endpoint.CodeProtocol, "/actions/state_delta must be an object"},
		"unfinished arguments":                 {agenttest.SSE(`delta {"part":0,"function_call":{"name":"f","args_text":"{"}}`, `done {}`), run.CodeContent, "not whole"},
		"an error":                             {agenttest.SSE(`error {"code":"my.code-1","message":"a\nb"}`), "my.code-1", "a b"},
		"an error with an invalid code":        {agenttest.SSE(`error {"code":"a b","message":"m"}`), run.CodeAgent, "m"},
		"an error without a message":           {agenttest.SSE(`error {}`), run.CodeAgent, "without saying why"},
		"an error that is a text":              {agenttest.SSE(`error it broke`), run.CodeAgent, "it broke"},
		"an item that is too large":            {agenttest.SSE(`delta {"part":0,"text":"`+big+`"}`, `delta {"part":0,"text":"`+big+`"}`), run.CodeLimit, "an item of more than 1048576 bytes"},
		"an event that is too large":           {agenttest.SSE(`event {"x":"` + big + big + `"}`), run.CodeLimit, "an event of more than 1048576 bytes"},
		"a line that is too long":              {"data: " + strings.Repeat(big, 5), run.CodeLimit, "an event of more than"},
		"too many items":                       {agenttest.SSE(many...), run.CodeLimit, "more than 1000 items"},
		"an incomplete item that is completed": {agenttest.SSE(`delta {"part":0,"function_call":{"name":"f","args_text":"{"}}`, `item {}`), run.CodeContent, "not whole"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agenttest.Record(t, agenttest.NewHTTP(t, agenttest.Streams(c.body)), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, c.says)
		})
	}
	t.Run("another content type", func(t *testing.T) {
		_, err := agenttest.Record(t, agenttest.NewHTTP(t, agenttest.Says("text/html", "<p>")), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeProtocol, `content type "text/html"`)
	})
}

func TestAReceiversErrorStopsTheCall(t *testing.T) {
	a := agenttest.NewHTTP(t, agenttest.Streams(agenttest.SSE(`item {}`, `delta {"part":0,"text":"a"}`, `done {}`)))
	calls := 0
	err := a.Run(t.Context(), agenttest.Ask(t, "hi"), func(run.Output) error {
		calls++
		return agenttest.ErrStopped
	})
	if !errors.Is(err, agenttest.ErrStopped) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestRequest(t *testing.T) {
	var got map[string]any
	var header http.Header
	a := agenttest.NewHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		agenttest.Streams(agenttest.SSE(`item {}`, `done {}`))(rw, r)
	}))
	agenttest.MustRecord(t, a, run.Request{RunID: "run-1", Agent: "helper", Truncated: true})
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
func TestAgent_replaces_invalid_text(t *testing.T) {
	for name, body := range map[string]string{
		"a stream":      agenttest.SSE(`delta {"part":0,"text":"a\ud83d"}`, "delta {\"part\":0,\"text\":\"b\xc3\"}", `done {}`),
		"a whole event": agenttest.SSE("event {\"content\":{\"parts\":[{\"text\":\"\xff\\udc00\"}]}}", `done {}`),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := agenttest.Record(t, agenttest.NewHTTP(t, agenttest.Streams(body)), agenttest.Ask(t, "hi"))
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%q", r.Log)
			if strings.Contains(text, `\x`) || strings.Contains(text, "ud83d") || strings.Contains(text, "udc00") {
				t.Errorf("got %s", text)
			}
		})
	}
}
