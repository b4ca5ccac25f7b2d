package convert_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/convert"
)

// asked is what a user said over A2A: it begins a task, which has the id of its
// invocation.
func asked(id string, seq int64, invocation string) session.Event {
	return session.Event{
		ID: id, Seq: seq, SessionID: "s", InvocationID: invocation, Author: "user", Status: session.EventCompleted,
		Fields: map[string]json.RawMessage{
			"content": json.RawMessage(`{"role":"user","parts":[{"text":"hi"}]}`),
			"a2a":     json.RawMessage(`{"message_id":"` + id + `","task_id":"` + invocation + `"}`),
		},
	}
}

// kept is a saved task whose only message belongs to an invocation.
func kept(id string, place int64, invocation string) task.Task {
	return task.Task{
		ID: id, SessionID: "s", Place: place, Bubbles: json.RawMessage(`[{"id":"m-` + id +
			`","type":"user","text":"hi","metadata":{"kagent_invocation_id":"` + invocation + `"}}]`),
	}
}

// shapes is the ids of tasks with those of their messages.
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
	events := []session.Event{asked("e1", 1, "a"), asked("e2", 2, "b"), asked("e3", 4, "c"), asked("e5", 5, "d")}
	events[1].Fields = nil // somebody's who does not speak A2A
	saved := []task.Task{kept("t", 3, "other"), kept("c2", 4, "c")}
	for _, test := range []struct {
		name  string
		fork  *session.Fork
		taken int // of the saved tasks
		more  []task.Task
		want  [][]string
	}{
		{
			"saved ones and others stand in the order of the log, none of them twice", nil, 0, nil,
			[][]string{{"a", "e1"}, {"t", "m-t"}, {"c2", "m-c2"}, {"d", "e5"}},
		},
		{
			"what a fork took over is one task, saved or not", &session.Fork{Taken: 4}, 2, nil,
			[][]string{{"s", "e1", "m-t", "m-c2"}, {"d", "e5"}},
		},
		{
			"a fork that took nothing over has an empty one", &session.Fork{}, 0, nil,
			[][]string{{"s"}, {"a", "e1"}, {"t", "m-t"}, {"c2", "m-c2"}, {"d", "e5"}},
		},
		{
			"what a rewind saved under a fork's id is that task", &session.Fork{Taken: 2}, 0,
			[]task.Task{kept("s", 9, "d")},
			[][]string{{"s", "e1", "m-s"}, {"t", "m-t"}, {"c2", "m-c2"}},
		},
		{
			"in a session that is no fork it is one of its own", nil, 0,
			[]task.Task{kept("s", 9, "d")},
			[][]string{{"a", "e1"}, {"t", "m-t"}, {"c2", "m-c2"}, {"s", "m-s"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := append(append([]task.Task{}, saved...), test.more...)
			for i := range test.taken {
				all[i].TakenOver = true
			}
			of := session.Session{ID: "s", Fork: test.fork, CreatedTime: 1, HeadSeq: 5}
			got, err := convert.SessionTasks(of, all, events)
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
