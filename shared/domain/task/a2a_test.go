package task_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/task"
)

func mustForm(t *testing.T, of task.Task) task.A2A {
	t.Helper()
	form, err := task.ToA2A(of)
	if err != nil {
		t.Fatal(err)
	}
	return form
}

func TestToA2A(t *testing.T) {
	t.Parallel()
	got := mustForm(t, task.Task{
		ID: "t", SessionID: "s", UpdatedTime: 1, Metadata: json.RawMessage(`{"status":"error"}`),
		Bubbles: json.RawMessage(`[{"id":"m","type":"user","text":"on"}]`),
	})
	want := task.A2A{
		Kind: "task", ID: "t", ContextID: "s", Metadata: json.RawMessage(`{"status":"error"}`),
		Status: task.A2AStatus{State: "failed", Timestamp: "1970-01-01T00:00:00.001Z"},
		History: []json.RawMessage{json.RawMessage(`{"kind":"message","messageId":"m","role":"user",` +
			`"parts":[{"kind":"text","text":"on"}],"contextId":"s","taskId":"t"}`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	t.Run("contains each message once, with the fork's ids", func(t *testing.T) {
		t.Parallel()
		got, err := task.Merge("s", 1, []task.A2A{
			mustForm(t, task.Task{ID: "t1", SessionID: "s", Bubbles: json.RawMessage(`[
				{"id":"m1","type":"user","text":"hi","metadata":{"kagent_invocation_id":"i1"}},
				{"id":"m2","type":"agent","parts":[{"kind":"text","text":"hello"}]}]`)}),
			mustForm(t, task.Task{ID: "t2", SessionID: "s", Bubbles: json.RawMessage(`[{"id":"b","type":"agent","history":[
				{"message_id":"m2","context_id":"old","role":"agent","parts":[]},
				{"role":"agent","parts":[]},{"role":"agent","parts":[]},
				{"messageId":"m3","taskId":"old","role":"user","parts":[]}]}]`)}),
		})
		if err != nil || got.ID != "s" || got.ContextID != "s" || got.Status.State != "completed" || got.Status.Timestamp == "" {
			t.Fatalf("got %+v, %v", got, err)
		}
		var ids []string
		for _, raw := range got.History {
			var m struct{ MessageID, ContextID, TaskID string }
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			if m.ContextID != "s" || m.TaskID != "s" {
				t.Errorf("message %s is of context %q and task %q", m.MessageID, m.ContextID, m.TaskID)
			}
			ids = append(ids, m.MessageID)
		}
		if diff := cmp.Diff([]string{"m1", "m2", "", "", "m3"}, ids); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
	t.Run("no tasks make an empty task", func(t *testing.T) {
		t.Parallel()
		if got, err := task.Merge("s", 1, nil); err != nil || got.History == nil || len(got.History) != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
