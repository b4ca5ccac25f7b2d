package aisdk_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/frontendtest"
)

const (
	head  = "start data-rethread-run data-rethread-state start-step "
	whole = head + "text-start text-delta text-end finish-step finish"
)

func mustEnd(t *testing.T, s *frontendtest.Stream, types, text string) {
	t.Helper()
	if gotTypes, gotText := s.End(t); gotTypes != types || gotText != text || !s.Done {
		t.Errorf("the stream is %s with %q, want %s with %q", gotTypes, gotText, types, text)
	}
}

func mustShow(t *testing.T, r rig, want ...string) {
	t.Helper()
	if got := r.Users(t, "s"); !slices.Equal(got, want) {
		t.Errorf("the session shows %v, want %v", got, want)
	}
}

func (r rig) resume(t *testing.T) *frontendtest.Stream {
	t.Helper()
	return r.Call(t, "alice", http.MethodGet, "/ai-sdk/helper/s/stream", "")
}

func (r rig) messages(t *testing.T) []map[string]any {
	t.Helper()
	s := r.Call(t, "alice", http.MethodGet, "/ai-sdk/helper/s/messages", "")
	var out []map[string]any
	if err := json.Unmarshal([]byte(s.Body), &out); err != nil || s.Status != http.StatusOK {
		t.Fatalf("%d %s", s.Status, s.Body)
	}
	return out
}

func TestChat(t *testing.T) {
	t.Parallel()
	t.Run("streams a run in a new session, resumes it, and repeats it for the same request", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.chat(t, list("u1"))
		w := r.Work(t)
		w.Write(t, "one ")
		s.UntilText(t)
		s.Close()
		if got := r.messages(t); len(got) != 1 || got[0]["id"] != "u1" {
			t.Errorf("during the run the session has the messages %v", got)
		}
		resumed, again := r.resume(t), r.chat(t, list("u1"))
		resumed.UntilText(t)
		again.UntilText(t)
		w.Write(t, "two")
		w.Complete(t, `{"text":"one two"}`, nil)
		mustEnd(t, resumed, whole, "one two")
		mustEnd(t, again, whole, "one two")
		mustEnd(t, r.chat(t, list("u1")), whole, "one two")
		if len(r.Started) > 0 {
			t.Error("the run was started again")
		}
		if resumed.All[0]["messageId"] != again.All[0]["messageId"] || r.messages(t)[1]["id"] != again.All[0]["messageId"] {
			t.Errorf("the answer has several ids: %v %v %v", resumed.All[0], again.All[0], r.messages(t))
		}
		if got := r.resume(t); got.Status != http.StatusNoContent {
			t.Errorf("a run that is over is resumed: %d", got.Status)
		}
	})
	t.Run("streams a run that ended since the messages were read without it", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.chat(t, list("u1"))
		w := r.Work(t)
		w.Write(t, "one ")
		s.UntilText(t)
		if got := r.messages(t); len(got) != 1 {
			t.Errorf("during the run the session has the messages %v", got)
		}
		w.Complete(t, `{"text":"one two"}`, nil)
		for range 2 { // another tab
			mustEnd(t, r.resume(t), whole, "one two")
		}
		if got := r.messages(t); len(got) != 2 {
			t.Errorf("after the run the session has the messages %v", got)
		}
		if got := r.resume(t); got.Status != http.StatusNoContent {
			t.Errorf("a run that was read is resumed: %d", got.Status)
		}
	})
	t.Run("streams the next run between two that are queued", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.chat(t, list("u1"))
		w := r.Work(t)
		second := r.chat(t, list("u1", "u2")+`,"rethread":{"on_active":"enqueue"}`)
		w.Complete(t, `{"text":"one"}`, nil)
		resumed := r.resume(t)
		if resumed.Status != http.StatusOK {
			t.Fatalf("got %d", resumed.Status)
		}
		r.StartQueued(t, "s")
		w = r.Work(t)
		w.Write(t, "two")
		w.Complete(t, `{"text":"two"}`, nil)
		mustEnd(t, resumed, whole, "two")
		mustEnd(t, second, whole, "two")
	})
	t.Run("takes the last message alone, as the guide of the SDK sends it", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		for _, id := range []string{"u1", "u2"} {
			r.said(t, `"message":{"id":"`+id+`","role":"user","parts":[{"type":"text","text":"`+id+`"}]}`, "a"+id)
		}
		mustShow(t, r, "u1", "u2")
		answers := r.messages(t)
		s := r.chat(t, `"trigger":"regenerate-message","messageId":"`+answers[1]["id"].(string)+`"`)
		r.Work(t).Complete(t, `{"text":"again"}`, nil)
		s.End(t)
		mustShow(t, r, "u1")
		if got := r.chat(t, `"trigger":"submit-message"`); got.Status != 422 || !strings.Contains(got.Body, `"pointer":"/messages"`) {
			t.Errorf("a body without messages is answered with %d %s", got.Status, got.Body)
		}
	})
	t.Run("resumes nothing in a session that does not exist", func(t *testing.T) {
		t.Parallel()
		if got := newRig(t).resume(t); got.Status != http.StatusNoContent {
			t.Errorf("got %d", got.Status)
		}
	})
	t.Run("stops a run for all readers, after which nothing resumes", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.chat(t, list("u1"))
		w := r.Work(t)
		w.Write(t, "one ")
		s.UntilText(t)
		stopped := r.Call(t, "alice", http.MethodPost, "/ai-sdk/helper/s/stop", "")
		if !strings.Contains(stopped.Body, `"status":"cancelled"`) {
			t.Errorf("got %s", stopped.Body)
		}
		if types, _ := s.End(t); !strings.HasSuffix(types, "text-end finish-step abort") || !s.Done {
			t.Errorf("got %s", types)
		}
		if got := r.resume(t); got.Status != http.StatusNoContent {
			t.Errorf("a stopped run is resumed: %d", got.Status)
		}
		r.said(t, list("u1", "@"+s.All[0]["messageId"].(string), "u2"), "a2")
		if got := r.Texts(t, "s"); got != "u1|one |u2|a2" { // what was read stays
			t.Errorf("the session shows %s", got)
		}
		r.said(t, list("u3"), "a3")
		if got := r.Texts(t, "s"); got != "u1|one |u2|a2|u3|a3" {
			t.Errorf("the session shows %s", got)
		}
	})
	t.Run("answers again what was stopped, instead of it", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.chat(t, list("u1"))
		r.Work(t).Write(t, "half")
		s.UntilText(t)
		r.Call(t, "alice", http.MethodPost, "/ai-sdk/helper/s/stop", "")
		s.End(t)
		again := `"trigger":"regenerate-message","messageId":"` + s.All[0]["messageId"].(string) + `",` + list("u1")
		r.said(t, again, "a1")
		if got := r.Texts(t, "s"); got != "u1|a1" {
			t.Errorf("the session shows %s", got)
		}
	})
	t.Run("refuses a request while another run is in progress, unless it replaces that", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.chat(t, list("u1"))
		r.Work(t)
		if busy := r.chat(t, list("u1", "u2")); busy.Status != http.StatusConflict {
			t.Errorf("got %d", busy.Status)
		}
		second := r.chat(t, list("u1", "u2")+`,"rethread":{"on_active":"cancel_and_merge"}`)
		w := r.Work(t)
		w.Write(t, "both")
		w.Complete(t, `{"text":"both"}`, nil)
		mustEnd(t, second, whole, "both")
		if types, _ := first.End(t); !strings.HasSuffix(types, "abort") {
			t.Errorf("the replaced run ends with %s", types)
		}
	})
}

func TestRewind(t *testing.T) {
	t.Parallel()
	t.Run("regenerates an answer, each time anew", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		id := r.said(t, list("u1"), "a1")
		for range 2 {
			regenerate := list("u1") + `,"trigger":"regenerate-message","messageId":"` + id + `"`
			next := r.said(t, regenerate, "again")
			if next == id {
				t.Fatal("the same run answers again")
			}
			mustEnd(t, r.chat(t, regenerate), whole, "again") // the answer was lost
			id = next
		}
		r.said(t, list("u1")+`,"trigger":"regenerate-message"`, "more")
		mustShow(t, r, "u1")
		if got := r.messages(t); len(got) != 2 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("regenerates after a failure, each time anew", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		for range 3 {
			s := r.chat(t, list("u1")+`,"trigger":"regenerate-message"`)
			w := r.Work(t)
			w.Fail(t, "agent_error")
			if types, _ := s.End(t); !strings.HasSuffix(types, "error") || s.Last()["errorText"] != "it failed" {
				t.Errorf("got %v", s.All)
			}
		}
		mustShow(t, r, "u1")
	})
	t.Run("rewinds before a message that was edited under its id", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.said(t, list("u1"), "a1")
		r.said(t, list("u1", "@"+first, "u2"), "a2")
		edited := `"messageId":"u1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"other"}]}]`
		r.said(t, edited, "a3")
		mustShow(t, r, "other")
		mustEnd(t, r.chat(t, edited), whole, "a3")
		r.said(t, `"messageId":"u1",`+list("u1"), "a4")
		r.said(t, edited, "a5")
		mustShow(t, r, "other")
	})
	t.Run("asks again when an edit whose run was stopped is sent again", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, list("u1"), "a1")
		edited := `"messageId":"u1",` + list("u1")
		stopped := r.chat(t, edited)
		r.Work(t)
		r.Call(t, "alice", http.MethodPost, "/ai-sdk/helper/s/stop", "")
		stopped.End(t)
		r.said(t, edited, "a2")
		mustShow(t, r, "u1")
	})
	t.Run("rewinds where the list goes on otherwise, and not for a shorter list", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.said(t, list("u1"), "a1")
		r.said(t, list("u1", "@"+first, "u2"), "a2")
		r.said(t, list("u3"), "a3")
		mustShow(t, r, "u1", "u2", "u3")
		r.said(t, list("u1", "@"+first, "u4"), "a4")
		mustShow(t, r, "u1", "u4")
	})
}

func TestStreams(t *testing.T) {
	t.Parallel()
	t.Run("tells its reader to resume when its time is up, and the run goes on", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.chat(t, list("u1"))
		w := r.Work(t)
		w.Write(t, "one ")
		s.UntilText(t)
		r.TimeUp()
		if types, _ := s.End(t); !strings.HasSuffix(types, "data-rethread-reconnect error") {
			t.Errorf("got %s", types)
		}
		resumed := r.resume(t)
		resumed.UntilText(t)
		w.Complete(t, `{"text":"one "}`, nil)
		mustEnd(t, resumed, whole, "one ")
	})
	t.Run("answers 429 at the limit of streams, before the stream", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.TakeStreams(t)
		if s := r.chat(t, list("u1")); s.Status != http.StatusTooManyRequests || len(r.Started) > 0 {
			t.Errorf("got %d %s", s.Status, s.Body)
		}
	})
	t.Run("answers errors before the stream with their status", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, list("u1"), "a1")
		for path, want := range map[string]int{"/ai-sdk/helper": 403, "/ai-sdk/nobody": 404} {
			if s := r.Call(t, "mallory", http.MethodPost, path, `{"id":"s",`+list("u2")+`}`); s.Status != want {
				t.Errorf("%s: %d, want %d", path, s.Status, want)
			}
		}
		for _, path := range []string{"messages", "stream"} {
			if s := r.Call(t, "mallory", http.MethodGet, "/ai-sdk/helper/s/"+path, ""); s.Status != http.StatusForbidden {
				t.Errorf("%s: %d", path, s.Status)
			}
		}
		for members, pointer := range map[string]string{
			`"messages":[{"id":"u","role":"user","parts":[]}]`:                                           "/messages/0/parts",
			`"messages":[{"id":"u","role":"user","parts":[{"type":"file","url":"data:x,y"}]}]`:           "/messages/0/parts/0/url",
			`"messages":[{"id":"u","role":"user","parts":[{"type":"file","url":"data:a/b;base64,%%"}]}]`: "/messages/0/parts/0/url",
			`"messages":[{"id":"u","role":"user","parts":[{"type":"file","url":"no address"}]}]`:         "/messages/0/parts/0/url",
			`"trigger":"other"`: "/trigger",
		} {
			if s := r.chat(t, members); s.Status != http.StatusUnprocessableEntity || !strings.Contains(s.Body, pointer) {
				t.Errorf("%s: %d %s", members, s.Status, s.Body)
			}
		}
	})
}

// The pages of a session, put together, are all its messages.
func TestPagesOfMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const turns = 25
	r.Grow(t, "s", 0, turns)
	var all []map[string]any
	pages, query := 0, "?limit=7"
	for query != "" {
		s := r.Call(t, "alice", http.MethodGet, "/ai-sdk/helper/s/messages"+query, "")
		var page []map[string]any
		if err := json.Unmarshal([]byte(s.Body), &page); err != nil || len(page) == 0 || len(page) > 7 || page[0]["role"] != "user" {
			t.Fatalf("%d %s", s.Status, s.Body)
		}
		all = append(page, all...)
		pages++
		query, _, _ = strings.Cut(strings.TrimPrefix(s.Header.Get("Link"), "<"), ">")
	}
	if diff := cmp.Diff(r.messages(t), all); diff != "" || len(all) != 2*turns || pages != 9 {
		t.Errorf("%d pages have %d messages: %s", pages, len(all), diff)
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?before=x", "?before=1&before=2", "?limit=%zz"} {
		if s := r.Call(t, "alice", http.MethodGet, "/ai-sdk/helper/s/messages"+query, ""); s.Status != http.StatusBadRequest {
			t.Errorf("%s is answered with %d", query, s.Status)
		}
	}
}
