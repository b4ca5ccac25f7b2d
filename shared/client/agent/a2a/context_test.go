package a2a_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// textsOf returns the texts of a message that was sent.
func textsOf(m map[string]any) []string {
	var out []string
	parts, _ := m["parts"].([]any)
	for _, p := range parts {
		members, _ := p.(map[string]any)
		text, _ := members["text"].(string)
		out = append(out, text)
	}
	return out
}

func answering(text string) func(f *a2aFake) *a2aFake {
	return func(f *a2aFake) *a2aFake {
		return f.on("SendStreamingMessage", results(task("TASK_STATE_SUBMITTED"), chunk("a"+text, `{"text":"`+text+`"}`, false), status("TASK_STATE_COMPLETED", "", "")))
	}
}

func TestAgent_continues_its_context(t *testing.T) {
	f := answering("Two.")(answering("One.")(newA2AFake(t, currentCard)))
	first := positioned(agenttest.Ask(t, "first"))
	next := then(t, first, agenttest.MustRecord(t, f.agent(), first), "second")
	said := agenttest.Event(t, `{"id":"x","invocation_id":"other","author":"writer","content":{"role":"model","parts":[{"text":"A word."},{"function_call":{"id":"c","name":"f","args":{"a":1}}}]}}`)
	said.Seq = 3
	for name, c := range map[string]struct {
		change  func(*run.Request)
		context any
		texts   []string
	}{
		"with only what is new": {func(*run.Request) {}, "c1", []string{"second"}},
		"with what others said": {func(r *run.Request) {
			r.Events = append(r.Events[:2:2], said, r.Events[2])
		}, "c1", []string{"Said since then:\n\nwriter: A word.\n(called f c with {\"a\":1})", "second"}},
		"but not after a rewind":                      {func(r *run.Request) { r.Epoch++ }, nil, []string{"The conversation so far:\n\nuser: first\n\nhelper: One.", "second"}},
		"but not in a session that was created again": {func(r *run.Request) { r.LogID = "again" }, nil, []string{"The conversation so far:\n\nuser: first\n\nhelper: One.", "second"}},
		"but not in a fork":                           {func(r *run.Request) { r.SessionID = "fork" }, nil, []string{"The conversation so far:\n\nuser: first\n\nhelper: One.", "second"}},
		"but not of another user":                     {func(r *run.Request) { r.UserID = "bob" }, nil, []string{"The conversation so far:\n\nuser: first\n\nhelper: One.", "second"}},
		"but not of an agent by its side":             {func(r *run.Request) { r.Agent = "other" }, nil, []string{"The conversation so far:\n\nuser: first\n\nhelper: One.", "second"}},
		"but not one that is left out": {func(r *run.Request) {
			r.Events, r.Truncated = r.Events[2:], true
		}, nil, []string{"The conversation so far:\n\n(Older turns of the conversation are left out.)", "second"}},
		"but not one that a user wrote": {func(r *run.Request) {
			forged := r.Events[1]
			forged.Fields = map[string]json.RawMessage{"content": forged.Fields["content"]}
			var members map[string]any
			if err := json.Unmarshal(r.Events[1].Fields["a2a"], &members); err != nil {
				t.Fatal(err)
			}
			members["context_id"] = "another user's"
			forged.Fields["a2a"], _ = json.Marshal(members)
			r.Events = []session.Event{r.Events[0], forged, r.Events[2]}
		}, nil, []string{"The conversation so far:\n\nuser: first\n\nhelper: One.", "second"}},
	} {
		t.Run(name, func(t *testing.T) {
			req := next
			req.Events = append([]session.Event(nil), next.Events...)
			c.change(&req)
			answering("Two.")(f)
			if err := f.agent().Run(t.Context(), req, func(run.Output) error { return nil }); err != nil {
				t.Fatal(err)
			}
			m := f.message()
			if diff := cmp.Diff(c.texts, textsOf(m)); diff != "" || m["contextId"] != c.context || m["taskId"] != nil {
				t.Errorf("context %v, task %v, texts (-want +got):\n%s", m["contextId"], m["taskId"], diff)
			}
		})
	}
}

func TestAgent_answers_a_question(t *testing.T) {
	const call = `{"data":{"id":"f1","name":"confirm","args":{}},"metadata":{"adk_type":"function_call","adk_is_long_running":true}}`
	asking := func(state string) *a2aFake {
		return newA2AFake(t, currentCard).on("SendStreamingMessage", results(task("TASK_STATE_SUBMITTED"), status(state, "q1", call)))
	}
	for _, state := range []string{"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"} {
		t.Run(state, func(t *testing.T) {
			f := asking(state)
			first := positioned(agenttest.Ask(t, "pay"))
			r := agenttest.MustRecord(t, f.agent(), first)
			if ids := string(r.Events[0].Fields["long_running_tool_ids"]); ids != `["f1"]` {
				t.Errorf("long-running calls %s", ids)
			}
			// The task as it was comes first, and then what is new.
			f.on("SendStreamingMessage", results(
				`{"task":{"id":"t1","contextId":"c1","status":{"state":"`+state+`","message":{"messageId":"q1","role":"ROLE_AGENT","parts":[`+call+`]}}}}`,
				chunk("a", `{"text":"Paid."}`, false), status("TASK_STATE_COMPLETED", "", "")))
			next := then(t, first, r, "yes")
			second := &agenttest.Recorder{T: t}
			if err := f.agent().Run(t.Context(), next, ignoringRun(second)); err != nil {
				t.Fatal(err)
			}
			if m := f.message(); m["taskId"] != "t1" || m["contextId"] != "c1" || second.Contents() != `[{"text":"Paid."}]` {
				t.Errorf("task %v, context %v: %s", m["taskId"], m["contextId"], second.Contents())
			}
		})
	}
	t.Run("in a new context, if the agent has forgotten it", func(t *testing.T) {
		f := asking("TASK_STATE_INPUT_REQUIRED")
		first := positioned(agenttest.Ask(t, "pay"))
		next := then(t, first, agenttest.MustRecord(t, f.agent(), first), "yes")
		answering("Paid.")(f.on("SendStreamingMessage", rpcFailure(-32001, "Task not found")))
		second := &agenttest.Recorder{T: t}
		if err := f.agent().Run(t.Context(), next, ignoringRun(second)); err != nil {
			t.Fatal(err)
		}
		m := f.message()
		want := []string{"The conversation so far:\n\nuser: pay\n\nhelper: (called confirm f1 with {})", "yes"}
		if diff := cmp.Diff(want, textsOf(m)); diff != "" || m["taskId"] != nil || m["contextId"] != nil {
			t.Errorf("task %v, context %v, (-want +got):\n%s", m["taskId"], m["contextId"], diff)
		}
	})
	t.Run("by polling, until the task goes on", func(t *testing.T) {
		f := newA2AFake(t, pollingCard)
		const waiting = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}`
		f.on("SendMessage", result(`{"task":`+waiting+`}`))
		first := positioned(agenttest.Ask(t, "pay"))
		next := then(t, first, agenttest.MustRecord(t, f.agent(), first), "yes")
		f.on("SendMessage", result(`{"task":`+waiting+`}`)).on("GetTask", result(waiting)).
			on("GetTask", result(`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"Paid."}]}]}`))
		second := &agenttest.Recorder{T: t}
		if err := f.agent().Run(t.Context(), next, ignoringRun(second)); err != nil {
			t.Fatal(err)
		}
		if second.Contents() != `[{"text":"Paid."}]` || f.methods() != "SendMessage SendMessage GetTask GetTask" {
			t.Errorf("%s after %s", second.Contents(), f.methods())
		}
	})
}

// ignoringRun records the output of a run whose id is not that of the recorder's.
func ignoringRun(r *agenttest.Recorder) func(run.Output) error {
	return func(o run.Output) error {
		if o.Event != nil {
			o.Event.InvocationID = "run-1"
		}
		return r.Emit(o)
	}
}

func TestAgent_continues_a_run_whose_worker_was_lost(t *testing.T) {
	t.Run("follows the task that it had begun", func(t *testing.T) {
		f := newA2AFake(t, currentCard).on("SendStreamingMessage", results(
			task("TASK_STATE_WORKING"), chunk("a", `{"text":"One."}`, false), chunk("b", `{"text":"Two."}`, false), status("TASK_STATE_COMPLETED", "", "")))
		req := agenttest.Ask(t, "hi")
		req.Said = agenttest.MustRecord(t, f.agent(), req).Events[:1]
		req.Continuation = 1
		f.on("SubscribeToTask", results(task("TASK_STATE_COMPLETED",
			`"artifacts":[{"artifactId":"a","parts":[{"text":"One."}]},{"artifactId":"b","parts":[{"text":"Two."}]}]`)))
		r := agenttest.MustRecord(t, f.agent(), req)
		if r.Contents() != `[{"text":"Two."}]` || f.methods() != "SendStreamingMessage SubscribeToTask" {
			t.Errorf("%s after %s", r.Contents(), f.methods())
		}
	})
	t.Run("repeats its message if it had said nothing", func(t *testing.T) {
		f := answering("Two.")(answering("Two.")(newA2AFake(t, currentCard)))
		req := agenttest.Ask(t, "hi")
		agenttest.MustRecord(t, f.agent(), req)
		first := f.message()
		req.Continuation = 1
		agenttest.MustRecord(t, f.agent(), req)
		if diff := cmp.Diff(first, f.message()); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
	t.Run("tells the agent what it had said", func(t *testing.T) {
		f := answering("Two.")(answering("Two.")(newA2AFake(t, currentCard)))
		req := agenttest.Ask(t, "hi")
		agenttest.MustRecord(t, f.agent(), req)
		id := f.message()["messageId"]
		req.Continuation = 1
		req.Said = []session.Event{agenttest.Event(t, `{"invocation_id":"run-1","author":"helper","content":{"role":"model","parts":[{"text":"One"},{"function_call":{"id":"c","name":"pay"}}]}}`)}
		agenttest.MustRecord(t, f.agent(), req)
		m := f.message()
		texts := textsOf(m)
		if len(texts) != 2 || texts[0] != "hi" || !strings.HasSuffix(texts[1], "helper: One\n(called pay c with {})") || m["messageId"] == id {
			t.Errorf("message %v", m)
		}
	})
}

func TestAgent_refuses_a_loop(t *testing.T) {
	f := answering("Hi.")(newA2AFake(t, currentCard))
	input := func(depth string) run.Request {
		req := agenttest.Ask(t, "hi")
		req.Events[0].Fields["a2a"] = json.RawMessage(`{"message_id":"m","metadata":{"rethread_depth":` + depth + `}}`)
		return req
	}
	agenttest.MustRecord(t, f.agent(), input("4"))
	if metadata, _ := f.message()["metadata"].(map[string]any); metadata["rethread_depth"] != 5.0 {
		t.Errorf("metadata %v", metadata)
	}
	_, err := agenttest.Record(t, f.agent(), input("5"))
	agenttest.WantError(t, err, endpoint.CodeLoop, "5 agents")
}
