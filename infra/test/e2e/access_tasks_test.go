package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testSharedTasks checks that tasks belong to the session, whoever started them
// and whichever protocol identifies them by their ids alone.
func testSharedTasks(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob, carol := sys.User(t, "alice"), sys.User(t, "bob"), sys.User(t, "carol")
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	id := strings.TrimPrefix(s, api+"/sessions/")
	alice.Post(s+"/shares", e2e.M{"access": "write", "user_id": bob.ID}).Want(201)
	reads := alice.Post(s+"/shares", e2e.M{"access": "read", "user_id": carol.ID}).Want(201).Str("data.id")
	version := e2e.Header("A2A-Version", "1.0")
	get := func(u *e2e.User, path string) *e2e.Answer { return u.Get("/a2a/demo"+path, e2e.Off, version) }
	everybody := []*e2e.User{alice, bob, carol}
	his, hers := mustDo(t, bob, id), mustDo(t, alice, id)
	t.Run("readers find the tasks of all participants", func(t *testing.T) {
		for _, u := range everybody {
			for _, task := range []string{his, hers} {
				if got := get(u, "/tasks/"+task).Want(200).Str("contextId"); got != id {
					t.Errorf("%s finds %s in %q", u.ID, task, got)
				}
			}
			if got := get(u, "/tasks?contextId="+id).Want(200).Each("tasks", "id"); !slices.Equal(got, []string{hers, his}) {
				t.Errorf("%s is listed %v", u.ID, got)
			}
		}
		get(sys.User(t, "stranger"), "/tasks/"+his).Want(404)
	})
	t.Run("without a context, a guest's list has the guest's own tasks", func(t *testing.T) {
		if got := get(bob, "/tasks").Want(200).Each("tasks", "id"); !slices.Equal(got, []string{his}) {
			t.Errorf("bob's: %v", got)
		}
		if got := get(carol, "/tasks").Want(200).Each("tasks", "id"); len(got) != 0 {
			t.Errorf("carol's: %v", got)
		}
	})
	t.Run("readers cannot cancel", func(t *testing.T) {
		carol.Post("/a2a/demo/tasks/"+his+":cancel", e2e.M{}, e2e.Off, version).Want(403)
	})
	saved := "saved-" + uuid.NewString()
	alice.Post("/api/tasks", e2e.M{
		"id": saved, "contextId": id, "kind": "task", "status": e2e.M{"state": "completed"}, "history": []e2e.M{}, "artifacts": []e2e.M{},
	}).Want(200, 201)
	t.Run("the task routes find them, too", func(t *testing.T) {
		for _, u := range everybody {
			if got := u.Get("/api/tasks/" + saved).Want(200).Str("data.contextId"); got != id {
				t.Errorf("%s finds it in %q", u.ID, got)
			}
		}
		carol.Delete("/api/tasks/" + saved).Want(403)
		carol.Post(api+"/feedback", e2e.M{"taskId": saved, "feedbackType": "down"}).Want(403)
		bob.Post(api+"/feedback", e2e.M{"taskId": saved, "feedbackType": "up"}).Want(202)
		if got := alice.Get(s + "/tasks/" + saved).Want(200).Str("task_metadata.feedback.type"); got != "up" {
			t.Errorf("feedback %q", got)
		}
	})
	t.Run("a fork's task is found by the fork's id", func(t *testing.T) {
		fork := alice.Post(s+"/fork", e2e.M{}).Want(201).Str("data.id")
		bob.Get("/api/tasks/" + fork).Want(404)
		get(bob, "/tasks/"+fork).Want(404)
		alice.Post(sessionPath(fork)+"/shares", e2e.M{"access": "read", "user_id": bob.ID}).Want(201)
		bob.Get("/api/tasks/" + fork).Want(200)
		get(bob, "/tasks/"+fork).Want(200)
	})
	t.Run("access ends with the share", func(t *testing.T) {
		alice.Delete(s + "/shares/" + reads).Want(204)
		get(carol, "/tasks/"+his).Want(404)
		carol.Get("/api/tasks/" + saved).Want(404)
		if got := get(carol, "/tasks?contextId="+id).Want(200).List("tasks"); len(got) != 0 {
			t.Errorf("carol is listed %v", got)
		}
		bob.Delete(s + "/access").Want(204)
		get(bob, "/tasks/"+his).Want(404)
		if got := get(bob, "/tasks").Want(200).List("tasks"); len(got) != 0 {
			t.Errorf("bob is listed %v", got)
		}
		get(alice, "/tasks/"+his).Want(200)
	})
}
