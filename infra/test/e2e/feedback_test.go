package e2e_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testFeedback(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("feedback is stored and shown in the task", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		task := uuid.NewString()
		alice.Post(s+"/tasks", e2e.M{
			"task_id": task, "message_bubbles": []e2e.M{bubble("b", "agent", "x")},
			"task_metadata": e2e.M{"status": "completed", "agent_name": "cook"},
		}).Want(201)
		given := alice.Post(api+"/feedback", e2e.M{"taskId": task, "feedbackType": "up", "feedbackText": "Great!"}).Want(202)
		if given.Str("status") != "accepted" {
			t.Errorf("got %s", given.Body)
		}
		want := map[string]string{"type": "up", "text": "Great!", "submitted": "true"}
		got := alice.Get(s + "/tasks/" + task).Want(200)
		if diff := cmp.Diff(want, texts(got, "task_metadata.feedback", want)); diff != "" {
			t.Errorf("in the task (-want +got)\n%s", diff)
		}
		if got.Str("task_metadata.agent_name") != "cook" {
			t.Errorf("the task lost its metadata: %s", got.Raw("task_metadata"))
		}
		listed := alice.Get(api + "/feedback?task_id=" + task).Want(200)
		want = map[string]string{
			"task_id": task, "session_id": got.Str("session_id"), "type": "up", "text": "Great!",
		}
		if diff := cmp.Diff(want, texts(listed, "feedback.0", want)); diff != "" {
			t.Errorf("in the list (-want +got)\n%s", diff)
		}
	})
	t.Run("the latest feedback is shown in the task, both are in the list", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		task := uuid.NewString()
		mustSave(t, alice, s, task, "x")
		for _, kind := range []string{"up", "down"} {
			alice.Post(api+"/feedback", e2e.M{"taskId": task, "feedbackType": kind}).Want(202)
		}
		if got := alice.Get(s + "/tasks/" + task).Str("task_metadata.feedback.type"); got != "down" {
			t.Errorf("the task says %s", got)
		}
		got := alice.Get(api + "/feedback").Want(200)
		if diff := cmp.Diff([]string{"down", "up"}, got.Each("feedback", "type")); diff != "" {
			t.Errorf("newest first: %s", diff)
		}
	})
	t.Run("the session distinguishes two tasks with the same id", func(t *testing.T) {
		alice := sys.User(t, "alice")
		one, two := mustCreate(t, alice, nil), mustCreate(t, alice, nil)
		task := uuid.NewString()
		id := mustSave(t, alice, one, task, "x").Str("session_id")
		mustSave(t, alice, two, task, "y")
		alice.Post(api+"/feedback", e2e.M{"taskId": task, "feedbackType": "up", "sessionId": id}).Want(202)
		if got := alice.Get(one + "/tasks/" + task).Str("task_metadata.feedback.type"); got != "up" {
			t.Errorf("the task says %s", got)
		}
		if got := alice.Get(two + "/tasks/" + task).Raw("task_metadata"); got != "null" {
			t.Errorf("the other task says %s", got)
		}
	})
	t.Run("feedback on a task that is not saved yet is stored", func(t *testing.T) {
		alice := sys.User(t, "alice")
		alice.Post(api+"/feedback", e2e.M{"taskId": "nowhere", "feedbackType": "down"}).Want(202)
		if n := len(alice.Get(api + "/feedback").Want(200).List("feedback")); n != 1 {
			t.Errorf("%d are listed", n)
		}
	})
	t.Run("lists filter and page", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		var id string
		for i := range 6 {
			task := fmt.Sprint("t", i)
			id = mustSave(t, alice, s, task, "x").Str("session_id")
			kind := []string{"up", "down"}[i%2]
			alice.Post(api+"/feedback", e2e.M{"taskId": task, "feedbackType": kind, "sessionId": id}).Want(202)
		}
		for query, want := range map[string]int{
			"?limit=4": 6, "?type=up": 3, "?type=up&limit=1": 3, "?task_id=t1": 1,
			"?task_id=t1&type=up": 0, "?session_id=" + id: 6, "?session_id=other": 0,
		} {
			seen := map[string]bool{}
			for _, page := range allPages(t, alice, api+"/feedback"+query) {
				for _, task := range page.Each("feedback", "task_id") {
					seen[task] = true
				}
			}
			if len(seen) != want {
				t.Errorf("%s lists %d, want %d", query, len(seen), want)
			}
		}
	})
	t.Run("other users cannot read or give feedback", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		s := mustCreate(t, alice, nil)
		task := uuid.NewString()
		id := mustSave(t, alice, s, task, "x").Str("session_id")
		bob.Post(api+"/feedback", e2e.M{"taskId": task, "feedbackType": "down", "sessionId": id}).Want(403)
		bob.Post(api+"/feedback", e2e.M{"taskId": task, "feedbackType": "down"}).Want(202)
		if got := alice.Get(s + "/tasks/" + task).Raw("task_metadata"); got != "null" {
			t.Errorf("bob marked alice's task: %s", got)
		}
		if n := len(alice.Get(api + "/feedback").Want(200).List("feedback")); n != 0 {
			t.Errorf("alice sees %d of bob's feedback", n)
		}
	})
}
