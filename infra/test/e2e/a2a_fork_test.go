package e2e_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testA2AFork is seed 004 for an unsaved chat: the inherited part of a fork is one
// completed task, over A2A too.
func testA2AFork(t *testing.T, u *e2e.User, c *a2aclient.Client) {
	t.Helper()
	contextID := uuid.NewString()
	first := mustSend(t, c, say(contextID, "one"))
	second := mustSend(t, c, say(contextID, "two"))
	fork := u.Post("/api/sessions/"+contextID+"/fork", e2e.M{
		"rewind_before_invocation_id": second.History[0].Metadata["kagent_invocation_id"],
	}).Want(201).Str("data.id")

	sameTasks(t, u, c, fork, []string{fork})
	want := history(first.History)
	if diff := cmp.Diff(want, reload(t, u, fork)); diff != "" {
		t.Errorf("the fork (-want +got):\n%s", diff)
	}
	other := mustSend(t, c, say(fork, "another way"))
	sameTasks(t, u, c, fork, []string{fork, string(other.ID)})
	if diff := cmp.Diff(append(want, history(other.History)...), reload(t, u, fork)); diff != "" {
		t.Errorf("continued in the fork (-want +got):\n%s", diff)
	}
	if got := reload(t, u, contextID); len(got) != 4 {
		t.Errorf("the source is now %v", got)
	}

	third := mustSend(t, c, say(fork, "and on"))
	back := say(fork, "")
	back.Message.Metadata = map[string]any{rewindKey: third.History[0].Metadata["kagent_invocation_id"]}
	whole := mustSend(t, c, back)
	if diff := cmp.Diff(append(want, history(other.History)...), history(whole.History)); diff != "" {
		t.Errorf("after a rewind in the fork (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(history(whole.History), reload(t, u, fork)); diff != "" {
		t.Errorf("after a reload (-want +got):\n%s", diff)
	}
	if got := mustGet(t, c, whole.ID); !cmp.Equal(history(got.History), history(whole.History)) {
		t.Errorf("got %v", history(got.History))
	}
}

// sameTasks checks a session's tasks, the first of them completed, and that A2A
// lists the same, newest first.
func sameTasks(t *testing.T, u *e2e.User, c *a2aclient.Client, contextID string, want []string) {
	t.Helper()
	listed := u.Get("/api/sessions/" + contextID + "/tasks").Want(200)
	if diff := cmp.Diff(want, listed.Each("data", "id")); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for _, id := range want {
		if got := mustGet(t, c, a2a.TaskID(id)); got.Status.State != a2a.TaskStateCompleted || len(got.History) != 2 {
			t.Errorf("task %s is %+v", id, got)
		}
	}
	over, err := c.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: contextID})
	if err != nil {
		return // version 0.3 has no list over JSON-RPC
	}
	var newest []string
	for _, one := range over.Tasks {
		newest = append([]string{string(one.ID)}, newest...)
	}
	if diff := cmp.Diff(want, newest); diff != "" {
		t.Errorf("over A2A (-want +got):\n%s", diff)
	}
}

// testA2AList lists the tasks of a context page by page, in the bindings that have
// a list.
func testA2AList(t *testing.T, c *a2aclient.Client, binding a2a.TransportProtocol, version a2a.ProtocolVersion) {
	t.Helper()
	contextID := uuid.NewString()
	var want []string
	for _, text := range []string{"one", "two", "three"} {
		want = append([]string{string(mustSend(t, c, say(contextID, text)).ID)}, want...)
	}
	req := &a2a.ListTasksRequest{ContextID: contextID, PageSize: 2}
	page, err := c.ListTasks(t.Context(), req)
	if binding == a2a.TransportProtocolJSONRPC && version == a2av0.Version {
		if err == nil {
			t.Errorf("version 0.3 has no list over JSON-RPC, but got %+v", page)
		}
		return
	}
	if err != nil || len(page.Tasks) != 2 || page.NextPageToken == "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	req.PageToken = page.NextPageToken
	rest, err := c.ListTasks(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range append(page.Tasks, rest.Tasks...) {
		got = append(got, string(one.ID))
	}
	if diff := cmp.Diff(want, got); diff != "" || rest.NextPageToken != "" {
		t.Errorf("more: %q (-want +got):\n%s", rest.NextPageToken, diff)
	}
}

func mustGet(t *testing.T, c *a2aclient.Client, id a2a.TaskID) *a2a.Task {
	t.Helper()
	task, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return task
}
