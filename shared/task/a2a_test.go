package task_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/task"
)

func TestToA2A(t *testing.T) {
	t.Parallel()
	bubbles := func(text string) json.RawMessage { return json.RawMessage(text) }
	tasks := []task.Task{
		{ID: "t1", SessionID: "s", TakenOver: true, Bubbles: bubbles(`[
			{"id":"m1","type":"user","text":"hi","metadata":{"kagent_invocation_id":"i1"}},
			{"id":"m2","type":"agent","parts":[{"kind":"text","text":"hello"}]}]`)},
		{ID: "t2", SessionID: "s", TakenOver: true, Bubbles: bubbles(`[{"id":"b","type":"agent","history":[
			{"message_id":"m2","context_id":"old","role":"agent","parts":[]},
			{"messageId":"m3","taskId":"old","role":"user","parts":[]}]}]`)},
		{
			ID: "t3", SessionID: "s", Bubbles: bubbles(`[{"id":"m4","type":"user","text":"on"}]`),
			Metadata: json.RawMessage(`{"status":"error"}`),
		},
	}
	got, err := task.ToA2A("s", true, tasks)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Status.State != "completed" || got[1].ID != "t3" || got[1].Status.State != "failed" {
		t.Fatalf("tasks %+v", got)
	}
	var ids []string
	for _, raw := range got[0].History {
		var m struct{ MessageID, ContextID, TaskID string }
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if m.ContextID != "s" || m.TaskID != got[0].ID {
			t.Errorf("message %s is of context %q and task %q", m.MessageID, m.ContextID, m.TaskID)
		}
		ids = append(ids, m.MessageID)
	}
	if diff := cmp.Diff([]string{"m1", "m2", "m3"}, ids); diff != "" {
		t.Errorf("merged history (-want +got):\n%s", diff)
	}
	empty, err := task.ToA2A("s", true, nil)
	if err != nil || len(empty) != 1 || len(empty[0].History) != 0 {
		t.Errorf("a fork without tasks: %+v, %v", empty, err)
	}
}
