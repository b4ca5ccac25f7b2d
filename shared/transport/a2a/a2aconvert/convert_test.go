package a2aconvert_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
)

// agentEvent returns an event of an agent with these parts.
func agentEvent(id string, seq int64, parts string) session.Event {
	return session.Event{
		ID: id, Seq: seq, SessionID: "s", InvocationID: "r", Author: "helper", Status: session.EventCompleted,
		Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"role":"model","parts":` + parts + `}`)},
	}
}

func TestMessageRoundTrip(t *testing.T) {
	want := &a2a.Message{
		ID: "m", ContextID: "s", TaskID: "t", Role: a2a.MessageRoleUser, Extensions: []string{"urn:x"},
		ReferenceTasks: []a2a.TaskID{"other"},
		Parts: a2a.ContentParts{
			{Content: a2a.Text("hi"), MediaType: "text/markdown"},
			{Content: a2a.Raw("bytes"), MediaType: "image/png", Filename: "a.png"},
			{Content: a2a.URL("https://x.example/a"), MediaType: "text/plain", Filename: "a"},
			{Content: a2a.Data{Value: map[string]any{"n": json.Number("1.5")}}, Metadata: map[string]any{"k": "v"}},
			{Content: a2a.Data{Value: map[string]any{"id": "c"}}, Metadata: map[string]any{
				"kagent_type": "function_response", "adk_type": "function_response",
			}},
		},
		Metadata: map[string]any{"mine": true},
	}
	e, err := a2aconvert.Event(want, "t")
	if err != nil {
		t.Fatal(err)
	}
	e.SessionID, e.InvocationID = "s", "r"
	got := a2aconvert.Message(e, a2aconvert.TaskOf(e))
	want.Metadata = map[string]any{"mine": true, a2aconvert.InvocationKey: "r", "kagent_author": "user"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	e := agentEvent("e", 1, `[{"function_call":{"id":"c","name":"f","args":{"n":9007199254740993}}},`+
		`{"function_response":{"id":"c","name":"f","response":{"n":9007199254740995}}},`+
		`{"text":"{}","data":{"n":1.10}},{"text":"a","part_metadata":{"n":9007199254740997}}]`)
	m := a2aconvert.Message(e, "t")
	for version, v := range map[string]any{"1.0": m, "0.3": a2av0.FromV1Message(m)} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`{"n":9007199254740993}`, `{"n":9007199254740995}`, `{"n":1.10}`, `"n":9007199254740997`} {
			if !strings.Contains(string(raw), want) {
				t.Errorf("version %s without %s: %s", version, want, raw)
			}
		}
	}
}

func TestArtifact(t *testing.T) {
	t.Run("leaves out thoughts and function calls", func(t *testing.T) {
		e := agentEvent("e", 1, `[{"text":"hm","thought":true},{"text":"yes"},{"function_call":{"id":"c","name":"f","args":{}}}]`)
		a := a2aconvert.Artifact(e)
		if a == nil || len(a.Parts) != 1 || a.Parts[0].Text() != "yes" || !a2aconvert.Steps(e) {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("returns none for an empty event", func(t *testing.T) {
		if a := a2aconvert.Artifact(agentEvent("e", 1, `[]`)); a != nil {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("returns none for a user's input", func(t *testing.T) {
		e := agentEvent("e", 1, `[{"text":"hi"}]`)
		e.Author = "user"
		if a := a2aconvert.Artifact(e); a != nil {
			t.Errorf("got %+v", a)
		}
	})
}

func TestStatus(t *testing.T) {
	call := agentEvent("ask", 1, `[{"function_call":{"id":"c","name":"f","args":{}}}]`)
	answer := agentEvent("answer", 2, `[{"function_response":{"id":"c","name":"f","response":{}}}]`)
	for _, test := range []struct {
		name   string
		run    run.Run
		events []session.Event
		want   a2a.TaskState
	}{
		{"in progress", run.Run{Status: run.InProgress}, nil, a2a.TaskStateWorking},
		{"queued", run.Run{Status: run.Waiting}, nil, a2a.TaskStateSubmitted},
		{"complete", run.Run{Status: run.Completed}, nil, a2a.TaskStateCompleted},
		{"a call without a response", run.Run{Status: run.Completed}, []session.Event{call}, a2a.TaskStateInputRequired},
		{"a call with a response", run.Run{Status: run.Completed}, []session.Event{call, answer}, a2a.TaskStateCompleted},
		{"cancelled", run.Run{Status: run.Cancelled}, nil, a2a.TaskStateCanceled},
		{"failed", run.Run{Status: run.Failed, Error: run.NewProblem("x", "why")}, nil, a2a.TaskStateFailed},
		{"rejected", run.Run{Status: run.Failed, Error: run.NewProblem("rejected", "no")}, nil, a2a.TaskStateRejected},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run.ID = "r"
			if got := a2aconvert.Status("t", test.run, test.events); got.State != test.want {
				t.Errorf("got %s, not %s", got.State, test.want)
			}
		})
	}
}

// Without it, google-adk shows a failed task as an answer.
func TestTaskHasTheMarkForClientsOfADK(t *testing.T) {
	got := a2aconvert.Task("t", run.Run{ID: "r", SessionID: "s", Status: run.InProgress}, nil)
	want := map[string]any{
		"kagent_invocation_id":                                 "r",
		"https://google.github.io/adk-docs/a2a/a2a-extension/": map[string]any{"adk_agent_executor_v2": true},
	}
	if diff := cmp.Diff(want, got.Metadata); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Clients of ADK show a reason without these marks as the agent's answer.
func TestReasonOfAFailureIsMarkedAsAnError(t *testing.T) {
	got := a2aconvert.Status("t", run.Run{ID: "r", Status: run.Failed, Error: run.NewProblem("boom", "it broke")}, nil).Message
	want := map[string]any{"kagent_invocation_id": "r", "error_code": "boom", "adk_error_code": "boom"}
	if diff := cmp.Diff(want, got.Metadata); diff != "" {
		t.Errorf("the message (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"adk_is_error_message": true}, got.Parts[0].Metadata); diff != "" {
		t.Errorf("its part (-want +got):\n%s", diff)
	}
}

// Clients of ADK invent a call of their own for a task that waits for input
// unless one of its calls is marked as long-running.
func TestLongRunningCalls(t *testing.T) {
	marks := func(m *a2a.Message) map[string]bool {
		out := map[string]bool{}
		for _, p := range m.Parts {
			call, _ := p.Data().(map[string]any)
			id, _ := call["id"].(string)
			kagent, adk := p.Metadata["kagent_is_long_running"], p.Metadata["adk_is_long_running"]
			out[id] = kagent == true
			if kagent != adk {
				t.Errorf("call %s has the marks %v and %v", id, kagent, adk)
			}
		}
		return out
	}
	calls := func(id string, seq int64, names ...string) session.Event {
		var parts []string
		for _, name := range names {
			parts = append(parts, `{"function_call":{"id":"`+name+`","name":"f","args":{}}}`)
		}
		return agentEvent(id, seq, "["+strings.Join(parts, ",")+"]")
	}
	response := agentEvent("e2", 2, `[{"function_response":{"id":"done","name":"f","response":{}}}]`)
	t.Run("are those without a response once the task waits for input", func(t *testing.T) {
		events := []session.Event{calls("e1", 1, "early", "done"), response, calls("e3", 3, "late")}
		got := a2aconvert.Task("t", run.Run{ID: "r", SessionID: "s", Status: run.Completed}, events)
		if diff := cmp.Diff(map[string]bool{"late": true}, marks(got.Status.Message)); diff != "" {
			t.Errorf("the status (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]bool{"early": true, "done": false}, marks(got.History[0])); diff != "" {
			t.Errorf("the history (-want +got):\n%s", diff)
		}
	})
	t.Run("are those that the agent declares, from the beginning", func(t *testing.T) {
		for _, name := range []string{"long_running_tool_ids", "longRunningToolIds"} {
			e := calls("e1", 1, "a", "b")
			e.Fields[name] = json.RawMessage(`["b"]`)
			if diff := cmp.Diff(map[string]bool{"a": false, "b": true}, marks(a2aconvert.Message(e, "t"))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

func TestShorten(t *testing.T) {
	length := func(n int) *int { return &n }
	for _, test := range []struct {
		length *int
		want   int
	}{{nil, 3}, {length(5), 3}, {length(2), 2}, {length(0), 0}} {
		task := &a2a.Task{History: []*a2a.Message{{ID: "1"}, {ID: "2"}, {ID: "3"}}}
		a2aconvert.Shorten(task, test.length)
		if len(task.History) != test.want || test.want > 0 && task.History[test.want-1].ID != "3" {
			t.Errorf("%v leaves %d", test.length, len(task.History))
		}
	}
}

func TestReply(t *testing.T) {
	e := agentEvent("e", 1, `[{"text":"hi"}]`)
	if got := a2aconvert.Reply([]session.Event{e}); got != nil {
		t.Errorf("a task is answered with %+v", got)
	}
	e.Fields["a2a_reply"] = json.RawMessage(`"message"`)
	if got := a2aconvert.Reply([]session.Event{e}); got == nil || got.TaskID != "" || got.Parts[0].Text() != "hi" {
		t.Errorf("got %+v", got)
	}
	if got := a2aconvert.Reply([]session.Event{e, agentEvent("f", 2, `[{"text":"more"}]`)}); got != nil {
		t.Errorf("two events are answered with %+v", got)
	}
}
