package openresponses_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestStreams(t *testing.T) {
	t.Parallel()
	t.Run("a stream that is cut is read on from any event", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.post(t, `"input":"Hi","stream":true`)
		w := r.Work(t)
		w.Write(t, "one ")
		s.UntilText(t)
		s.Close()
		id := s.All[0]["response"].(object)["id"].(string)
		live := r.get(t, fmt.Sprintf("responses/%s?stream=true&starting_after=%v", id, s.All[len(s.All)-1]["sequence_number"]))
		w.Write(t, "two")
		if live.UntilText(t) != "two" {
			t.Errorf("got %v", live.All)
		}
		w.Complete(t, `{"text":"one two"}`, nil)
		live.End(t)
		whole := r.get(t, "responses/"+id+"?stream=true")
		whole.End(t)
		if !live.Done || !whole.Done {
			t.Error("a stream has no end")
		}
		for i, e := range whole.All {
			rest := r.get(t, fmt.Sprintf("responses/%s?stream=true&starting_after=%v", id, e["sequence_number"]))
			rest.End(t)
			if got, want := mustText(t, rest.All), mustText(t, append([]object{}, whole.All[i+1:]...)); got != want && (got != "null" || want != "[]") {
				t.Errorf("after %v: %s, want %s", e["sequence_number"], got, want)
			}
		}
		if last, want := live.All[len(live.All)-1], whole.All[len(whole.All)-1]; mustText(t, last) != mustText(t, want) {
			t.Errorf("the end is %v, want %v", last, want)
		}
	})
	t.Run("tells its reader to read on when its time is up, and the run goes on", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.post(t, `"input":"Hi","stream":true`)
		w := r.Work(t)
		w.Write(t, "one ")
		s.UntilText(t)
		id := s.All[0]["response"].(object)["id"].(string)
		r.TimeUp()
		types, _ := s.End(t)
		if end := s.Last(); !strings.HasSuffix(types, " error") || end["code"] != "stream_expired" || !s.Done {
			t.Errorf("got %v", end)
		}
		next := r.get(t, fmt.Sprintf("responses/%s?stream=true&starting_after=%v", id, s.Last()["sequence_number"]))
		w.Write(t, "two")
		w.Complete(t, `{"text":"one two"}`, nil)
		if _, said := next.End(t); said != "two" {
			t.Errorf("got %q", said)
		}
	})
	t.Run("answers 429 at the limit of streams, before a run", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.TakeStreams(t)
		for _, members := range []string{`"input":"Hi","stream":true`, `"input":"Hi"`} {
			s := r.post(t, members)
			mustRefuse(t, s, 429, nil, "rate_limit_exceeded")
			if s.Header.Get("Retry-After") == "" || len(r.Started) > 0 {
				t.Errorf("got %v", s.Header)
			}
		}
		if got := r.begin(t, `"input":"Hi"`); got["status"] != "in_progress" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("ends with an error when access ends", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		got := r.begin(t, `"input":"Hi"`)
		w := r.Work(t)
		if _, err := r.Store.Shares.Share(t.Context(), access.NewShare{
			ID: "share", OwnerID: "alice", SessionID: conversationOf(got), Right: access.Read, UserID: "bob",
		}); err != nil {
			t.Fatal(err)
		}
		s := r.Call(t, "bob", http.MethodGet, "/v1/responses/"+got["id"].(string)+"?stream=true", "")
		w.Write(t, "one ")
		s.UntilText(t)
		if err := r.Store.Shares.Revoke(t.Context(), "alice", conversationOf(got), "share"); err != nil {
			t.Fatal(err)
		}
		w.Complete(t, `{"text":"one two"}`, nil)
		types, _ := s.End(t)
		if end := s.Last(); !strings.HasSuffix(types, " error") || strings.Contains(types, "completed") || end["error"] == nil {
			t.Errorf("got %s with %v", types, end)
		}
	})
	t.Run("streams a queued response when its turn comes", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.begin(t, `"input":"one"`)
		w := r.Work(t)
		s := r.post(t, `"input":"two","stream":true,"rethread":{"on_active":"enqueue"}`+after(first))
		s.Until(t, "response.queued")
		w.Complete(t, `{"text":"1"}`, nil)
		next, err := r.Store.Runs.StartQueued(t.Context(), "alice", conversationOf(first))
		if err != nil {
			t.Fatal(err)
		}
		r.Started <- run.Ref{UserID: "alice", SessionID: conversationOf(first), RunID: next.ID}
		w = r.Work(t)
		w.Write(t, "2")
		w.Complete(t, `{"text":"2"}`, nil)
		types, said := s.End(t)
		if want := strings.Replace(whole, "response.created", "response.created response.queued", 1); types != want || said != "2" {
			t.Errorf("got %s with %q", types, said)
		}
	})
	t.Run("sends the agent's own tools, thoughts and files as items", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.post(t, `"input":"Hi","stream":true`)
		w := r.Work(t)
		w.CompleteItem(t, `{"text":"hm","thought":true},{"function_call":{"id":"c","name":"own","args":{}}}`, nil)
		w.Begin(t)
		w.CompleteItem(t, `{"function_response":{"id":"c","name":"own","response":{"result":"r"}}}`, nil)
		w.Begin(t)
		w.Complete(t, `{"text":"done"}`, func(e *session.Event) { e.Status = "" })
		s.End(t)
		var kinds []string
		for _, item := range s.Last()["response"].(object)["output"].([]any) {
			kinds = append(kinds, item.(object)["type"].(string))
		}
		if got := strings.Join(kinds, " "); got != "reasoning rethread:tool_call rethread:tool_call_output message" {
			t.Errorf("got %s", got)
		}
	})
}
