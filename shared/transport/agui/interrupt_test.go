package agui_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/domain/session"
)

// calls is the parts of two calls without a response.
const calls = `{"function_call":{"id":"c1","name":"pick","args":{}}},{"function_call":{"id":"c2","name":"pick","args":{"n":2}}}`

// resume answers calls.
func resume(ids ...string) string {
	var out []string
	for _, id := range ids {
		out = append(out, `{"interruptId":"`+id+`","status":"resolved","payload":{"ok":true}}`)
	}
	return `"messages":[],"resume":[` + strings.Join(out, ",") + `]`
}

// open returns the ids of the interrupts with which a stream ends, or of the pending calls.
func open(t *testing.T, s *frontendtest.Stream, kind string) string {
	t.Helper()
	outcome, _ := s.Last()["outcome"].(map[string]any)
	if outcome["type"] != kind {
		t.Errorf("the stream ends with %v, want %s", s.Last(), kind)
	}
	var ids []string
	interrupts, _ := outcome["interrupts"].([]any)
	for _, one := range interrupts {
		ids = append(ids, one.(map[string]any)["id"].(string))
	}
	pending, _ := outcome["pendingToolCallIds"].([]any)
	for _, id := range pending {
		ids = append(ids, id.(string))
	}
	return strings.Join(ids, " ")
}

// results returns the calls and the messages of the results that a stream or a snapshot
// has.
func results(t *testing.T, list []map[string]any) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, m := range list {
		if m["role"] == "tool" {
			for _, name := range []string{"id", "messageId"} {
				if id, ok := m[name].(string); ok {
					out[m["toolCallId"].(string)] = id
				}
			}
		}
	}
	return out
}

// Agents of the types http and chat_completions do not mark their calls.
func TestInterrupt_ofACallThatIsNotMarked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tools, kind string }{
		"a tool of the front end": {`,"tools":[{"name":"pick","description":""}]`, "success"},
		"a tool of the agent":     {"", "interrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			s := r.run(t, "r1", list("u1")+c.tools)
			r.Work(t).Complete(t, calls, nil)
			s.End(t)
			if got := open(t, s, c.kind); got != "c1 c2" {
				t.Errorf("the run asks %s", got)
			}
			again := r.Call(t, "alice", http.MethodGet, "/agui/helper/threads/s", "")
			again.End(t)
			if got := open(t, again, c.kind); got != "c1 c2" {
				t.Errorf("after a reload it asks %s", got)
			}
			nothing := r.run(t, "r1b", list("u1"))
			nothing.End(t)
			if got := open(t, nothing, c.kind); got != "c1 c2" {
				t.Errorf("a request without anything new gets %s", got)
			}
		})
	}
	t.Run("which the agent answers itself", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.run(t, "r1", list("u1"))
		w := r.Work(t)
		w.CompleteItem(t, calls, nil)
		w.Begin(t)
		w.Complete(t, `{"function_response":{"id":"c1","name":"pick","response":{}}},{"function_response":{"id":"c2","name":"pick","response":{}}},{"text":"a"}`, nil)
		s.End(t)
		if got := open(t, s, "success"); got != "" {
			t.Errorf("the run asks %s", got)
		}
		if refused := r.run(t, "r2", resume("c1")); refused.Status != 422 {
			t.Errorf("an answer is answered with %d %s", refused.Status, refused.Body)
		}
	})
}

func TestResume(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, asked string) rig {
		t.Helper()
		r := newRig(t)
		s := r.run(t, "r1", list("u1"))
		r.Work(t).Complete(t, asked, func(e *session.Event) {
			e.Fields["long_running_tool_ids"] = json.RawMessage(`["c1","c2"]`)
		})
		s.End(t)
		return r
	}
	t.Run("shows the answers to those who are there, as a reload does", func(t *testing.T) {
		t.Parallel()
		r := ask(t, calls)
		s := r.run(t, "r2", resume("c1", "c2"))
		w := r.Work(t)
		w.Write(t, "thanks")
		w.Complete(t, `{"text":"thanks"}`, nil)
		s.End(t)
		reload := r.Call(t, "alice", http.MethodGet, "/agui/helper/threads/s", "")
		var shown []map[string]any
		for _, m := range reload.Until(t, "MESSAGES_SNAPSHOT")["messages"].([]any) {
			shown = append(shown, m.(map[string]any))
		}
		live, later := results(t, s.All), results(t, shown)
		if len(live) != 2 || live["c1"] != later["c1"] || live["c2"] != later["c2"] {
			t.Errorf("the stream has the results %v, a reload %v", live, later)
		}
	})
	t.Run("must answer each open question", func(t *testing.T) {
		t.Parallel()
		for _, asked := range []string{calls, strings.ReplaceAll(calls, "pick", "ag_ui_interrupt")} {
			r := ask(t, asked)
			s := r.run(t, "r2", resume("c1"))
			if s.Status != 422 || !strings.Contains(s.Body, `"pointer":"/resume"`) || !strings.Contains(s.Body, "c2") || len(r.Started) > 0 {
				t.Errorf("an answer to one of two questions is answered with %d %s", s.Status, s.Body)
			}
			r.said(t, "r3", resume("c2", "c1"), "thanks")
		}
	})
	t.Run("a question that was left open elsewhere is still asked", func(t *testing.T) {
		t.Parallel()
		r := ask(t, calls)
		s := r.run(t, "r2", `"messages":[{"id":"t1","role":"tool","toolCallId":"c1","content":"yes"}]`)
		r.Work(t).Complete(t, `{"text":"And c2?"}`, nil)
		s.End(t)
		if got := open(t, s, "interrupt"); got != "c2" {
			t.Errorf("the run asks %s", got)
		}
		if got := results(t, s.All); len(got) != 0 {
			t.Errorf("a client gets what it has: %v", got)
		}
		r.said(t, "r3", resume("c2"), "thanks")
	})
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.run(t, "r1", list("u1")+`,"tools":[{"name":"confirm","description":""}]`)
	r.Work(t).Complete(t, `{"function_call":{"id":"c1","name":"confirm","args":{}}}`, func(e *session.Event) {
		e.Fields["long_running_tool_ids"] = json.RawMessage(`["c1"]`)
	})
	s.End(t)
	outcome := s.Last()["outcome"].(map[string]any)
	if pending, _ := outcome["pendingToolCallIds"].([]any); outcome["type"] != "success" || len(pending) != 1 || pending[0] != "c1" {
		t.Errorf("the run ends with %v", outcome)
	}
	s = r.run(t, "r2", `"messages":[{"id":"u1","role":"user","content":"u1"},{"id":"t1","role":"tool","toolCallId":"c1","content":"yes"}]`)
	w := r.Work(t)
	page, err := r.Store.Sessions.Events(t.Context(), "alice", "s", session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil || !strings.Contains(string(page.Events[2].Fields["content"]), `"id":"c1","name":"confirm","response":{"result":"yes"}`) {
		t.Errorf("the answer is %v, %v", page.Events, err)
	}
	w.Complete(t, `{"function_call":{"id":"i1","name":"ag_ui_interrupt","args":{"reason":"approval","message":"Sure?"}}}`, func(e *session.Event) {
		e.Fields["long_running_tool_ids"] = json.RawMessage(`["i1"]`)
	})
	s.End(t)
	outcome = s.Last()["outcome"].(map[string]any)
	if open, _ := outcome["interrupts"].([]any); outcome["type"] != "interrupt" || len(open) != 1 || open[0].(map[string]any)["message"] != "Sure?" {
		t.Errorf("the run ends with %v", outcome)
	}
	r.said(t, "r3", `"messages":[],"resume":[{"interruptId":"i1","status":"resolved","payload":{"ok":true}}]`, "thanks")
	mustEnd(t, r.run(t, "r3", `"messages":[],"resume":[{"interruptId":"i1","status":"resolved","payload":{"ok":true}}]`), whole, "thanks")
}

// CopilotKit answers a question under the id of the run that asked it, and with a tool's
// message besides.
func TestInterrupt_underTheSameRunID(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ask := func(s *frontendtest.Stream, call string) {
		r.Work(t).Complete(t, `{"function_call":{"id":"`+call+`","name":"confirm","args":{}}}`, func(e *session.Event) {
			e.Fields["long_running_tool_ids"] = json.RawMessage(`["` + call + `"]`)
		})
		s.End(t)
	}
	resume := func(call string) string {
		return `"messages":[{"id":"u1","role":"user","content":"u1"},{"id":"t` + call + `","role":"tool","toolCallId":"` + call + `","content":"{\"ok\":true}"}],` +
			`"resume":[{"interruptId":"` + call + `","status":"resolved","payload":{"ok":true}}]`
	}
	ask(r.run(t, "r1", list("u1")), "c1")
	ask(r.run(t, "r1", resume("c1")), "c2") // the answer's run asks again
	r.said(t, "r1", resume("c2"), "thanks")
	mustEnd(t, r.run(t, "r1", resume("c2")), whole, "thanks")
	page, err := r.Store.Sessions.Events(t.Context(), "alice", "s", session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, e := range page.Events {
		if e.Author == "user" {
			runs = append(runs, e.InvocationID)
		}
	}
	if len(runs) != 3 || runs[0] != "r1" || runs[1] == "r1" || runs[2] == "r1" || runs[1] == runs[2] {
		t.Errorf("the inputs are in the runs %v", runs)
	}
}
