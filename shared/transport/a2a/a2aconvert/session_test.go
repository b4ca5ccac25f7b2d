package a2aconvert_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
)

// userEvent returns a user's message over A2A that begins a task with the id of
// its invocation.
func userEvent(id string, seq int64, invocation string) session.Event {
	return session.Event{
		ID: id, Seq: seq, SessionID: "s", InvocationID: invocation, Author: "user", Status: session.EventCompleted,
		Fields: map[string]json.RawMessage{
			"content": json.RawMessage(`{"role":"user","parts":[{"text":"hi"}]}`),
			"a2a":     json.RawMessage(`{"message_id":"` + id + `","task_id":"` + invocation + `"}`),
		},
	}
}

// savedTask returns a saved task whose only message belongs to an invocation.
func savedTask(id string, place int64, invocation string) task.Task {
	return task.Task{
		ID: id, SessionID: "s", Place: place, Bubbles: json.RawMessage(`[{"id":"m-` + id +
			`","type":"user","text":"hi","metadata":{"kagent_invocation_id":"` + invocation + `"}}]`),
	}
}

// shapes returns the ids of tasks with those of their messages.
func shapes(t *testing.T, tasks []task.A2A) [][]string {
	t.Helper()
	var out [][]string
	for _, one := range tasks {
		shape := []string{one.ID}
		for _, raw := range one.History {
			var m struct{ MessageID, ContextID, TaskID string }
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			if m.ContextID != one.ContextID || m.TaskID != one.ID {
				t.Errorf("message %s of task %s says %+v", m.MessageID, one.ID, m)
			}
			shape = append(shape, m.MessageID)
		}
		out = append(out, shape)
	}
	return out
}

func TestSessionTasks(t *testing.T) {
	events := []session.Event{userEvent("e1", 1, "a"), userEvent("e2", 2, "b"), userEvent("e3", 4, "c"), userEvent("e5", 5, "d")}
	events[1].Fields = nil // not sent over A2A
	saved := []task.Task{savedTask("t", 3, "other"), savedTask("c2", 4, "c")}
	for _, test := range []struct {
		name   string
		fork   *session.Fork
		copied int // of the saved tasks
		more   []task.Task
		want   [][]string
	}{
		{
			"orders saved and built tasks by log position, each once", nil, 0, nil,
			[][]string{{"a", "e1"}, {"t", "m-t"}, {"c2", "m-c2"}, {"d", "e5"}},
		},
		{
			"merges what a fork copied into one task", &session.Fork{Taken: 4}, 2, nil,
			[][]string{{"s", "e1", "m-t", "m-c2"}, {"d", "e5"}},
		},
		{
			"returns an empty merged task for a fork without copies", &session.Fork{}, 0, nil,
			[][]string{{"s"}, {"a", "e1"}, {"t", "m-t"}, {"c2", "m-c2"}, {"d", "e5"}},
		},
		{
			"merges a task that a rewind saved under the fork's id", &session.Fork{Taken: 2}, 0,
			[]task.Task{savedTask("s", 9, "d")},
			[][]string{{"s", "e1", "m-s"}, {"t", "m-t"}, {"c2", "m-c2"}},
		},
		{
			"keeps a task with the session's id separate outside forks", nil, 0,
			[]task.Task{savedTask("s", 9, "d")},
			[][]string{{"a", "e1"}, {"t", "m-t"}, {"c2", "m-c2"}, {"s", "m-s"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := append(append([]task.Task{}, saved...), test.more...)
			for i := range test.copied {
				all[i].TakenOver = true
			}
			of := session.Session{ID: "s", Fork: test.fork, CreatedTime: 1, HeadSeq: 5}
			got, err := a2aconvert.SessionTasks(of, all, events)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, shapes(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if test.fork != nil && got[0].Status.State != "completed" {
				t.Errorf("the merged task is %s", got[0].Status.State)
			}
		})
	}
}
