package agui_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

const whole = "RUN_STARTED STATE_SNAPSHOT TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED"

func mustEnd(t *testing.T, s *frontendtest.Stream, types, text string) {
	t.Helper()
	if gotTypes, gotText := s.End(t); gotTypes != types || gotText != text {
		t.Errorf("the stream is %s with %q, want %s with %q", gotTypes, gotText, types, text)
	}
}

func mustShow(t *testing.T, r rig, want ...string) {
	t.Helper()
	if got := r.Users(t, "s"); !slices.Equal(got, want) {
		t.Errorf("the session shows %v, want %v", got, want)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	t.Run("streams a run in a new thread", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.run(t, "r1", list("u1"))
		w := r.Work(t)
		w.Write(t, "one ")
		if e := s.Until(t, "TEXT_MESSAGE_CONTENT"); e["delta"] != "one " {
			t.Errorf("got %v while the answer is in progress", e)
		}
		w.Write(t, "two")
		w.Complete(t, `{"text":"one two"}`, nil)
		mustEnd(t, s, whole, "one two")
		mustShow(t, r, "u1")
	})
	t.Run("sends the same run again, from its beginning, after its reader has left", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.run(t, "r1", list("u1"))
		w := r.Work(t)
		w.Write(t, "one ")
		s.Until(t, "TEXT_MESSAGE_CONTENT")
		s.Close()
		again := r.run(t, "r1", list("u1"))
		again.Until(t, "TEXT_MESSAGE_CONTENT")
		w.Write(t, "two")
		w.Complete(t, `{"text":"one two"}`, nil)
		mustEnd(t, again, whole, "one two")
		mustEnd(t, r.run(t, "r1", list("u1")), whole, "one two")
		if len(r.Started) > 0 {
			t.Error("the run was started again")
		}
	})
	t.Run("refuses other input for the same run", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, "r1", list("u1"), "a1")
		for _, members := range []string{list("u2"), `"messages":[{"id":"u1","role":"user","content":"other"}]`} {
			if s := r.run(t, "r1", members); s.Status != http.StatusConflict || !strings.Contains(s.Body, `"code":"other_input"`) {
				t.Errorf("%s is answered with %d %s", members, s.Status, s.Body)
			}
		}
	})
	t.Run("says that a run was rewound when its request is repeated", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, "r1", list("u1"), "a1")
		if _, err := r.Store.History.Rewind(t.Context(), session.Rewind{SessionID: "s", UserID: "alice", Before: "r1", Nonce: "n"}); err != nil {
			t.Fatal(err)
		}
		if got := r.run(t, "r1", list("u1")); got.Status != 409 || !strings.Contains(got.Body, `"code":"run_rewound"`) {
			t.Errorf("got %d %s", got.Status, got.Body)
		}
		r.said(t, "r2", list("u1"), "a2")
		if got := r.run(t, "r1", list("u1")); got.Status != 409 || !strings.Contains(got.Body, `"code":"run_rewound"`) {
			t.Errorf("got %d %s", got.Status, got.Body)
		}
	})
	t.Run("reports a run in progress, and replaces it on request", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.run(t, "r1", list("u1"))
		w := r.Work(t)
		busy := r.run(t, "r2", list("u1", "u2"))
		e := busy.Next(t)
		if e["type"] != "RUN_ERROR" || e["code"] != "run_in_progress" || !strings.HasSuffix(e["message"].(string), " "+w.Ref.RunID) {
			t.Errorf("got %v", e)
		}
		second := r.run(t, "r2", list("u1", "u2")+`,"forwardedProps":{"rethread":{"on_active":"cancel_and_merge"}}`)
		next := r.Work(t)
		next.Write(t, "both")
		next.Complete(t, `{"text":"both"}`, nil)
		mustEnd(t, second, whole, "both")
		if types, _ := first.End(t); !strings.HasSuffix(types, "RUN_FINISHED") || first.Last()["outcome"].(map[string]any)["type"] != "cancelled" {
			t.Errorf("the replaced run ends with %v", first.Last())
		}
		mustShow(t, r, "u1", "u2")
	})
	t.Run("waits for the run in progress on request", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.run(t, "r1", list("u1"))
		w := r.Work(t)
		w.Write(t, "one")
		const queues = `,"forwardedProps":{"rethread":{"on_active":"enqueue"}}`
		second := r.run(t, "r2", list("u1", "u2")+queues)
		second.Until(t, "RUN_STARTED")
		again := r.run(t, "r2", list("u1", "u2")+queues)
		again.Until(t, "RUN_STARTED")
		w.Complete(t, `{"text":"one"}`, nil)
		mustEnd(t, first, whole, "one")
		r.StartQueued(t, "s")
		next := r.Work(t)
		next.Write(t, "two")
		next.Complete(t, `{"text":"two"}`, nil)
		mustEnd(t, second, whole, "two")
		mustEnd(t, again, whole, "two")
		mustShow(t, r, "u1", "u2")
	})
	t.Run("fails if no worker accepts the run", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.run(t, "r1", list("u1"))
		w := r.Work(t)
		w.Fail(t, "not_started")
		if types, _ := s.End(t); types != "RUN_STARTED STATE_SNAPSHOT RUN_ERROR" || s.All[2]["code"] != "not_started" {
			t.Errorf("got %v", s.All)
		}
	})
	t.Run("finishes at once without anything new", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		mustEnd(t, r.run(t, "r0", list()), "RUN_STARTED STATE_SNAPSHOT RUN_FINISHED", "")
		r.said(t, "r1", list("u1"), "a1")
		mustEnd(t, r.run(t, "r2", list("u1")), "RUN_STARTED STATE_SNAPSHOT RUN_FINISHED", "")
		mustShow(t, r, "u1")
	})
}

func TestDivergence(t *testing.T) {
	t.Parallel()
	t.Run("rewinds where the list of messages goes on otherwise", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, "r1", list("u1"), "a1")
		r.said(t, "r2", list("u1", "@a1", "u2"), "a2")
		r.said(t, "r3", list("u1", "@a1", "u2", "@a2", "u3"), "a3")
		mustShow(t, r, "u1", "u2", "u3")
		r.said(t, "r4", list("u1", "@a1", "n2"), "b2")
		mustShow(t, r, "u1", "n2")
		mustEnd(t, r.run(t, "r4", list("u1", "@a1", "n2")), whole, "b2")
		if s := r.run(t, "r3", list("u1")); s.Status != http.StatusConflict || !strings.Contains(s.Body, `"code":"run_rewound"`) {
			t.Errorf("the run that was rewound is answered with %d %s", s.Status, s.Body)
		}
	})
	t.Run("goes on with the same request after a crash between rewind and start", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, "r1", list("u1"), "a1")
		r.said(t, "r2", list("u1", "@a1", "u2"), "a2")
		r.CrashNextStart()
		if s := r.run(t, "r3", list("u1", "@a1", "n2")); s.Status != http.StatusInternalServerError {
			t.Errorf("the crash is answered with %d %s", s.Status, s.Body)
		}
		mustShow(t, r, "u1")
		r.said(t, "r3", list("u1", "@a1", "n2"), "b2")
		mustShow(t, r, "u1", "n2")
	})
	t.Run("does not rewind for a list with the last message only", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, "r1", list("u1"), "a1")
		r.said(t, "r2", list("u2"), "a2")
		mustShow(t, r, "u1", "u2")
	})
	t.Run("answers the last message again on request", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, "r1", list("u1"), "a1")
		r.said(t, "r2", list("u1")+`,"forwardedProps":{"rethread":{"regenerate":true}}`, "b1")
		mustShow(t, r, "u1")
		mustEnd(t, r.run(t, "r2", list("u1")), whole, "b1")
	})
	t.Run("keeps the question of a run that failed", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		s := r.run(t, "r1", list("u1"))
		w := r.Work(t)
		w.Fail(t, "agent_failed")
		s.End(t)
		r.said(t, "r2", list("u1", "u2"), "a2")
		mustShow(t, r, "u1", "u2")
	})
}

func TestConnect(t *testing.T) {
	t.Parallel()
	t.Run("shows a second client the thread and the run in progress", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, "r1", list("u1"), "a1")
		first := r.run(t, "r2", list("u1", "@a1", "u2"))
		w := r.Work(t)
		w.Write(t, "one ")
		first.Until(t, "TEXT_MESSAGE_CONTENT")
		second := r.Call(t, "alice", http.MethodGet, "/agui/helper/threads/s", "")
		if messages := second.Until(t, "MESSAGES_SNAPSHOT")["messages"].([]any); len(messages) != 3 {
			t.Errorf("the thread is %v", messages)
		}
		second.Until(t, "TEXT_MESSAGE_CONTENT")
		w.Write(t, "two")
		w.Complete(t, `{"text":"one two"}`, nil)
		mustEnd(t, first, whole, "one two")
		mustEnd(t, second, strings.Replace(whole, "STATE_S", "MESSAGES_SNAPSHOT STATE_S", 1), "one two")
	})
	t.Run("shows a thread without a run in progress and ends", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.said(t, "r1", list("u1"), "a1")
		s := r.Call(t, "alice", http.MethodPost, "/agui/helper/connect", `{"threadId":"s","runId":"x","messages":[]}`)
		mustEnd(t, s, "RUN_STARTED MESSAGES_SNAPSHOT STATE_SNAPSHOT RUN_FINISHED", "")
		raw, err := json.Marshal(s.All[1]["messages"])
		if err != nil || !strings.HasPrefix(string(raw), `[{"content":"u1","id":"u1","role":"user"},{"content":"a1",`) {
			t.Errorf("the messages are %s", raw)
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.run(t, "r1", list("u1"))
	w := r.Work(t)
	w.Write(t, "half")
	s.Until(t, "TEXT_MESSAGE_CONTENT")
	for _, want := range []string{`{"runId":"r1","status":"cancelled","threadId":"s"}`, `{"runId":null,"threadId":"s"}`} {
		if stopped := r.Call(t, "alice", http.MethodPost, "/agui/helper/threads/s/stop", ""); stopped.Body != want {
			t.Errorf("got %d %s, want %s", stopped.Status, stopped.Body, want)
		}
	}
	mustEnd(t, s, whole, "half")
	if outcome := s.Last()["outcome"].(map[string]any); outcome["type"] != "cancelled" {
		t.Errorf("the run ends with %v", outcome)
	}
	r.said(t, "r2", list("u1", "@half", "u2"), "a2")
	if got := r.Texts(t, "s"); got != "u1|half|u2|a2" { // what was read stays
		t.Errorf("the session shows %s", got)
	}
}

func TestOldClients(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const input = `{"threadId":"s","runId":"r1","messages":[{"id":"u1","role":"user","content":"u1"}]}`
	s := r.Call(t, "alice", http.MethodPost, "/agui/helper", input)
	r.Work(t)
	if _, err := r.Store.Runs.Cancel(t.Context(), run.Ref{UserID: "alice", SessionID: "s", RunID: "r1"}); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, "RUN_STARTED STATE_SNAPSHOT RUN_FINISHED", "")
	if outcome := s.All[2]["outcome"]; outcome != nil {
		t.Errorf("a client that declares no version gets the outcome %v", outcome)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.run(t, "r1", list("u1")+`,"state":{"color":"red","size":{"w":1}}`)
	w := r.Work(t)
	if got := s.Until(t, "STATE_SNAPSHOT")["snapshot"]; got.(map[string]any)["color"] != "red" {
		t.Errorf("the state is %v", got)
	}
	w.Complete(t, `{"text":"done"}`, func(e *session.Event) {
		e.StateDelta = session.Delta{"color": json.RawMessage(`"blue"`), "size": json.RawMessage("null")}
		e.Fields["actions"] = json.RawMessage(`{"state_delta":{"color":"blue","size":null}}`)
	})
	delta, err := json.Marshal(s.Until(t, "STATE_DELTA")["delta"])
	if want := `[{"op":"add","path":"/color","value":"blue"},{"op":"remove","path":"/size"}]`; err != nil || string(delta) != want {
		t.Errorf("the change is %s", delta)
	}
	s.End(t)
	r.said(t, "r2", list("u2")+`,"state":{"color":"blue"}`, "a2")
	page, err := r.Store.Sessions.Events(t.Context(), "alice", "s", session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil || len(page.Events[2].StateDelta) != 0 {
		t.Errorf("an equal state is stored: %v, %v", page.Events[2].StateDelta, err)
	}
}

func TestEndOfTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.run(t, "r1", list("u1"))
	w := r.Work(t)
	w.Write(t, "one ")
	s.Until(t, "TEXT_MESSAGE_CONTENT")
	r.TimeUp()
	s.End(t)
	if last := s.Last(); last["type"] != "RUN_ERROR" || last["code"] != "connect_again" {
		t.Errorf("the stream ends with %v", last)
	}
	again := r.run(t, "r1", list("u1"))
	w.Write(t, "two")
	w.Complete(t, `{"text":"one two"}`, nil)
	mustEnd(t, again, whole, "one two")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.said(t, "r1", list("u1"), "a1")
	const input = `{"threadId":"s","runId":"r2","messages":[{"id":"u2","role":"user","content":"u2"}]}`
	for name, c := range map[string]struct {
		user, method, path, body string
		status                   int
		contains                 string
	}{
		"no caller":                    {"", "POST", "/agui/helper", input, 401, "bearer"},
		"an unknown agent":             {"alice", "POST", "/agui/nobody", input, 404, "no agent has this name"},
		"another user's thread":        {"bob", "POST", "/agui/helper", input, 403, ""},
		"reading another user's":       {"bob", "GET", "/agui/helper/threads/s", "", 403, ""},
		"stopping another user's":      {"bob", "POST", "/agui/helper/threads/s/stop", "", 403, ""},
		"an unknown thread":            {"alice", "GET", "/agui/helper/threads/none", "", 404, "Session not found"},
		"a body that is no JSON":       {"alice", "POST", "/agui/helper", "x", 400, ""},
		"a body without a run's id":    {"alice", "POST", "/agui/helper", `{"threadId":"s"}`, 400, "/runId"},
		"a state without keys":         {"alice", "POST", "/agui/helper", `{"threadId":"s","runId":"r","state":[1]}`, 422, `"pointer":"/state"`},
		"a key that is too long":       {"alice", "POST", "/agui/helper", strings.Replace(input, `"messages"`, `"state":{"`+strings.Repeat("k", 300)+`":1},"messages"`, 1), 422, `"pointer":"/state/k`},
		"an agent in a namespace":      {"alice", "POST", "/agui/team~writer", `{"threadId":"s","runId":"r1","messages":[]}`, 200, ""},
		"a page that does not exist":   {"alice", "GET", "/agui/helper/x", "", 404, ""},
		"a method that is not allowed": {"alice", "PUT", "/agui/helper", "", 405, ""},
	} {
		s := r.Call(t, c.user, c.method, c.path, c.body)
		if s.Status != c.status || !strings.Contains(s.Body, c.contains) {
			t.Errorf("%s is answered with %d %s", name, s.Status, s.Body)
		}
	}
	r.TakeStreams(t)
	if s := r.run(t, "r9", list("u9")); s.Status != 429 || !strings.Contains(s.Body, `"quota":"streams"`) || len(r.Started) > 0 {
		t.Errorf("one stream too many is answered with %d %s", s.Status, s.Body)
	}
}
