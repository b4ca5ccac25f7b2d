package a2a_test

import (
	"encoding/json"
	"strings"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// begin begins a task in a context and ends its run.
func (h *pushServer) begin(t *testing.T, contextID, text string) *lib.Task {
	t.Helper()
	c := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, lib.Version)
	m := lib.NewMessage(lib.MessageRoleUser, lib.NewTextPart(text))
	m.ContextID = contextID
	got, err := c.SendMessage(t.Context(), &lib.SendMessageRequest{Message: m, Config: &lib.SendMessageConfig{ReturnImmediately: true}})
	if err != nil {
		t.Fatal(err)
	}
	begun, ok := got.(*lib.Task)
	if !ok {
		t.Fatalf("got %T", got)
	}
	ref := run.Ref{UserID: alice, SessionID: begun.ContextID, RunID: string(begun.ID)}
	if _, err := h.store.Runs.End(t.Context(), ref, run.Completed, nil); err != nil {
		t.Fatal(err)
	}
	return begun
}

func TestListTasksLeavesOutRewoundTasks(t *testing.T) {
	h := newPushServer(t)
	one, two := h.begin(t, "c", "one"), h.begin(t, "c", "two")
	other := h.begin(t, "", "elsewhere")
	if _, err := h.store.History.Rewind(t.Context(), session.Rewind{UserID: alice, SessionID: "c", Before: string(two.ID), Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	three := h.begin(t, "c", "three")
	for params, want := range map[string][]lib.TaskID{
		`{"contextId":"c"}`: {three.ID, one.ID},
		`{}`:                {three.ID, other.ID, one.ID},
		`{"contextId":"c","status":"TASK_STATE_COMPLETED"}`: {three.ID, one.ID},
	} {
		var page struct {
			Tasks     []struct{ ID lib.TaskID }
			TotalSize int
		}
		if err := json.Unmarshal(rpc(t, h.handler, "1.0", "1", "ListTasks", params)["result"], &page); err != nil {
			t.Fatal(err)
		}
		var got []lib.TaskID
		for _, one := range page.Tasks {
			got = append(got, one.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || page.TotalSize != len(want) {
			t.Errorf("%s: a total of %d (-want +got):\n%s", params, page.TotalSize, diff)
		}
	}
}

func TestMissingTasksAreCalledTasks(t *testing.T) {
	h := newPushServer(t)
	gone := h.begin(t, "", "hello")
	if err := h.store.Sessions.Delete(t.Context(), alice, gone.ContextID); err != nil {
		t.Fatal(err)
	}
	for _, id := range []lib.TaskID{"unknown", gone.ID, lib.TaskID(gone.ContextID), lib.TaskID(strings.Repeat("x", 200))} {
		for method, params := range map[string]string{
			"GetTask": `{"id":"ID"}`, "CancelTask": `{"id":"ID"}`, "SubscribeToTask": `{"id":"ID"}`,
			"SendMessage":                     `{"message":{"messageId":"m","role":"ROLE_USER","taskId":"ID","parts":[{"text":"x"}]}}`,
			"ListTaskPushNotificationConfigs": `{"taskId":"ID"}`,
		} {
			var got struct {
				Code    int
				Message string
			}
			answer := rpc(t, h.handler, "1.0", "1", method, strings.ReplaceAll(params, "ID", string(id)))
			if err := json.Unmarshal(answer["error"], &got); err != nil || got.Code != -32001 || got.Message != "Task not found" {
				t.Errorf("%s %s: %s", method, id, answer["error"])
			}
		}
	}
}
