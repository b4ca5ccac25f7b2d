package e2e_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/e2e"
)

// testA2ACrash kills the instance that serves a stream. Who subscribes to the
// task again is served by another one, and ends with the task as it is.
func testA2ACrash(t *testing.T, sys *e2e.System, c *a2aclient.Client) {
	t.Helper()
	const deaths = 2
	told := newReader()
	events := c.SendStreamingMessage(t.Context(), say("", "/long 120"))
	for range deaths {
		broke := false
		before := len(told.text())
		for event, err := range events {
			if err != nil {
				broke = true
				break
			}
			told.take(event)
			if !broke && len(told.text()) > before {
				broke = sys.KillWorkers(t, "a2a") > 0
			}
		}
		if !broke || told.over() {
			t.Fatalf("the stream went on: it is %s", told.last)
		}
		events = c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: told.first.ID})
	}
	for event, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		told.take(event)
	}
	task := mustGet(t, c, told.first.ID)
	if told.last != a2a.TaskStateCompleted || task.Status.State != told.last {
		t.Errorf("it ends %s, and the task is %s", told.last, task.Status.State)
	}
	if diff := cmp.Diff(artifactText(task), told.text()); diff != "" {
		t.Errorf("(-task +stream):\n%s", diff)
	}
}
