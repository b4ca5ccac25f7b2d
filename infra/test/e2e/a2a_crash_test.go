package e2e_test

import (
	"iter"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testA2ACrash kills the instance that serves a stream. A client that subscribes
// to the task again is served by another instance, up to the final task.
func testA2ACrash(t *testing.T, sys *e2e.System, c *a2aclient.Client) {
	t.Helper()
	const deaths = 2
	shown := newReader()
	events := c.SendStreamingMessage(t.Context(), say("", "/long 120"))
	for range deaths {
		killed := 0
		before := len(shown.text())
		for event, err := range events {
			if err != nil && killed == 0 {
				t.Fatal(err)
			}
			if err != nil {
				break
			}
			shown.take(event)
			if killed == 0 && len(shown.text()) > before {
				killed = sys.KillWorkers(t, "a2a")
			}
		}
		if killed == 0 || shown.over() {
			t.Fatalf("the stream continued: the state is %s", shown.last)
		}
		events = subscribeAfter(t, c, shown.first.ID, killed)
	}
	for event, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		shown.take(event)
	}
	task := mustGet(t, c, shown.first.ID)
	if shown.last != a2a.TaskStateCompleted || task.Status.State != shown.last {
		t.Errorf("the stream ends %s, and the task is %s", shown.last, task.Status.State)
	}
	if diff := cmp.Diff(artifactText(task), shown.text()); diff != "" {
		t.Errorf("(-task +stream):\n%s", diff)
	}
}

// subscribeAfter subscribes to a task after some instances were killed. Each of
// them may fail one more request before its death is noticed.
func subscribeAfter(t *testing.T, c *a2aclient.Client, id a2a.TaskID, killed int) iter.Seq2[a2a.Event, error] {
	t.Helper()
	return func(yield func(a2a.Event, error) bool) {
		for try := range killed + 1 {
			served := false
			for event, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}) {
				if err != nil && !served && try < killed {
					break
				}
				served = true
				if !yield(event, err) {
					return
				}
			}
			if served {
				return
			}
		}
	}
}
