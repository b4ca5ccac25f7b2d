package e2e_test

import (
	"encoding/base64"
	"math/rand/v2"
	"path"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testWorkingInForks uses the inherited part of a fork in the fork: each function
// must find the inherited invocations too.
func testWorkingInForks(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	parent := mustCreate(t, alice, nil)
	mustTalk(t, alice, parent, 2)
	t.Run("a task of an inherited invocation is placed with it", func(t *testing.T) {
		fork := mustFork(t, alice, parent, nil)
		b := bubble("late", "agent", "a late answer")
		b["metadata"] = e2e.M{"kagent_invocation_id": "inv-1"}
		alice.Post(fork+"/tasks", e2e.M{"task_id": "late", "message_bubbles": []e2e.M{b}}).Want(201)
		mustRewind(t, alice, fork, "inv-2", nil)
		alice.Get(fork + "/tasks/late").Want(200)
		mustRewind(t, alice, fork, "inv-1", nil)
		alice.Get(fork + "/tasks/late").Want(404)
	})
	t.Run("a failed run is discarded by the next input", func(t *testing.T) {
		fork := mustFork(t, alice, parent, nil)
		_, run := mustRun(t, alice, fork, "try", e2e.M{"mode": "external", "agent": "analyst"})
		alice.Patch(fork+"/runs/"+run, e2e.M{"status": "failed", "error": e2e.M{"message": "no luck"}}).Want(200)
		thread, _ := mustRun(t, alice, fork, "again", e2e.M{"mode": "external", "agent": "analyst"})
		if n := len(thread.List("data.items")); n != 5 {
			t.Errorf("%d items, want the 4 of the parent and the input", n)
		}
	})
	t.Run("the same over A2A", func(t *testing.T) {
		fork := mustFork(t, alice, parent, nil)
		client := mustDial(t, sys, alice, a2a.TransportProtocolJSONRPC, a2a.Version)
		back := say(path.Base(fork), "")
		back.Message.Metadata = map[string]any{rewindKey: "inv-2"}
		if task := mustSend(t, client, back); task.Status.State != a2a.TaskStateCompleted {
			t.Errorf("%+v", task)
		}
		if n := len(alice.Get(fork + "/events").List("data")); n != 2 {
			t.Errorf("%d events, want 2", n)
		}
		large := "/help " + incompressible(700<<10)
		if task := mustSend(t, client, say(path.Base(fork), large)); len(history(task.History)) == 0 || history(task.History)[0] != large {
			t.Error("a message that fills several items is not what was sent")
		}
	})
}

// incompressible returns text that takes several items of the table.
func incompressible(bytes int) string {
	random := rand.NewChaCha8([32]byte{7})
	raw := make([]byte, base64.StdEncoding.DecodedLen(bytes))
	_, _ = random.Read(raw) // never fails
	return base64.StdEncoding.EncodeToString(raw)
}
