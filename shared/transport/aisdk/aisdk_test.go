package aisdk_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/domain/session"
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

// Agents of the types http and chat_completions do not mark their calls: one without a
// response is a question to the person, live and after a reload.
func TestCallThatIsNotMarked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.chat(t, list("u1"))
	w := r.Work(t)
	w.CompleteItem(t, `{"function_call":{"id":"own","name":"search","args":{}}}`, nil)
	w.Begin(t)
	w.CompleteItem(t, `{"function_response":{"id":"own","name":"search","response":{}}}`, nil)
	w.Begin(t)
	w.Complete(t, `{"function_call":{"id":"c1","name":"confirm","args":{"n":1}}}`, nil)
	s.End(t)
	executed := map[any]any{}
	for _, c := range s.All {
		if c["type"] == "tool-input-available" {
			executed[c["toolCallId"]] = c["providerExecuted"]
		}
	}
	if executed["own"] != true || executed["c1"] != false || s.Last()["finishReason"] != "tool-calls" {
		t.Errorf("executed by the agent: %v, the end is %v", executed, s.Last())
	}
	messages := r.Call(t, "alice", http.MethodGet, "/ai-sdk/helper/s/messages", "")
	if strings.Count(messages.Body, `"providerExecuted":true`) != 1 || strings.Contains(messages.Body, `"providerExecuted":false`) {
		t.Errorf("a reload has %s", messages.Body)
	}
	answered := r.chat(t, `"messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"u1"}]},{"id":"`+w.Ref.RunID+
		`","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"confirm","toolCallId":"c1","state":"output-available","output":"yes"}]}]`)
	r.Work(t).Complete(t, `{"text":"Done."}`, nil)
	answered.End(t)
	messages = r.Call(t, "alice", http.MethodGet, "/ai-sdk/helper/s/messages", "")
	if strings.Count(messages.Body, `"providerExecuted":true`) != 1 || !strings.Contains(messages.Body, `"output":"yes"`) {
		t.Errorf("after the answer a reload has %s", messages.Body)
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{"length": "length", "SAFETY": "content-filter", "STOP": "stop"} {
		r := newRig(t)
		s := r.chat(t, list("u1"))
		r.Work(t).Complete(t, `{"text":"a"}`, func(e *session.Event) { e.Fields["finish_reason"] = json.RawMessage(`"` + reason + `"`) })
		if s.End(t); s.Last()["finishReason"] != want {
			t.Errorf("%s ends with %v", reason, s.Last())
		}
	}
}

func TestToolOutput(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		`"state":"output-available","output":"yes"`:                                   `{"result":"yes"}`,
		`"state":"output-available","output":{"n":9007199254740993}`:                  `{"n":9007199254740993}`,
		`"state":"output-error","errorText":"no"`:                                     `{"error":"no"}`,
		`"state":"approval-responded","approval":{"id":"a","approved":true,"x":null}`: `{"approved":true}`,
	} {
		t.Run("answers a call with "+state, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			s := r.chat(t, list("u1"))
			w := r.Work(t)
			w.Complete(t, `{"function_call":{"id":"c1","name":"confirm","args":{"n":1}}}`, func(e *session.Event) {
				e.Fields["long_running_tool_ids"] = json.RawMessage(`["c1"]`)
			})
			s.End(t)
			if end := s.Last(); end["finishReason"] != "tool-calls" {
				t.Errorf("got the end %v", end)
			}
			body := `"messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"u1"}]},{"id":"` + w.Ref.RunID +
				`","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"confirm","toolCallId":"c1",` + state + `}]}]`
			answered := r.chat(t, body)
			next := r.Work(t)
			next.Write(t, "Done.")
			resumed := r.resume(t)
			resumed.UntilText(t)
			next.Complete(t, `{"text":"Done."}`, nil)
			resumed.End(t)
			answer := "tool-output-available"
			if strings.Contains(state, "errorText") {
				answer = "tool-output-error"
			}
			mustEnd(t, r.chat(t, body), strings.Replace(whole, "start-step", answer+" start-step", 1), "Done.")
			answered.End(t)
			if answered.All[0]["messageId"] != w.Ref.RunID || resumed.All[3]["type"] != "start-step" || resumed.All[4]["toolCallId"] != "c1" {
				t.Errorf("the message is not continued: %v %v", answered.All, resumed.All)
			}
			page, err := r.Store.Events(t.Context(), "alice", "s", session.EventQuery{View: session.Effective, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(page.Events[2].Fields["content"]); !strings.Contains(got, `"response":`+want) {
				t.Errorf("the agent gets %s", got)
			}
			if parts := r.messages(t)[1]["parts"].([]any); len(parts) != 4 {
				t.Errorf("got %v", parts)
			}
		})
	}
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
			`"messages":[{"id":"u","role":"user","parts":[]}]`:                                 "/messages/0/parts",
			`"messages":[{"id":"u","role":"user","parts":[{"type":"file","url":"data:x,y"}]}]`: "/messages/0/parts/0/url",
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
