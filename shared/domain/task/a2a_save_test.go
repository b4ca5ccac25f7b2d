package task_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/task"
)

func TestFromA2A(t *testing.T) {
	t.Run("a saved task is returned unchanged", func(t *testing.T) {
		raw := `{"kind":"task","id":"t","contextId":"s","status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z"},` +
			`"history":[{"kind":"message","messageId":"m","contextId":"s","taskId":"t","metadata":{"kagent_invocation_id":"i"}}],` +
			`"artifacts":[{"artifactId":"a"}],"metadata":{"x":1}}`
		save, err := task.FromA2A(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"i"}, save.Invocations); diff != "" {
			t.Errorf("invocations (-want +got):\n%s", diff)
		}
		form, err := task.ToA2A(save.Task)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(form)
		if err != nil {
			t.Fatal(err)
		}
		var want, have any
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("an empty history stays empty", func(t *testing.T) {
		save, err := task.FromA2A(json.RawMessage(`{"id":"t","contextId":"s","status":{"state":"completed"}}`))
		if err != nil {
			t.Fatal(err)
		}
		form, err := task.ToA2A(save.Task)
		if err != nil || len(form.History) != 0 {
			t.Errorf("got %+v, %v", form, err)
		}
	})
	for _, bad := range []string{
		`[]`, `{"contextId":"s","status":{"state":"x"}}`, `{"id":"t","status":{"state":"x"}}`, `{"id":"t","contextId":"s"}`,
		`{"id":"t","contextId":"s","status":{"state":"x"},"history":{}}`,
		`{"id":"t","contextId":"s","status":{"state":"x"},"metadata":[]}`,
	} {
		t.Run("refused is "+bad, func(t *testing.T) {
			if _, err := task.FromA2A(json.RawMessage(bad)); err == nil {
				t.Error("no error")
			}
		})
	}
}
