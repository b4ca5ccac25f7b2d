package e2e_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/pick"
)

func testTasks(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("a task is returned equal in every field", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		saved := alice.Post(s+"/tasks", saleTask).Want(201)
		if saved.Str("task_id") != "gdk-task-abc123" || saved.Raw("created_time") != saved.Raw("updated_time") {
			t.Errorf("got %s", saved.Body)
		}
		list := alice.Get(s + "/tasks").Want(200)
		one := alice.Get(s + "/tasks/gdk-task-abc123").Want(200)
		for _, field := range []string{"task_id", "user_message", "message_bubbles", "task_metadata"} {
			want, err := pick.Raw([]byte(saleTask), field)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), list.Raw("tasks.0."+field)); diff != "" {
				t.Errorf("%s in the list (-want +got)\n%s", field, diff)
			}
			if diff := cmp.Diff(string(want), one.Raw(field)); diff != "" {
				t.Errorf("%s read alone (-want +got)\n%s", field, diff)
			}
		}
		if list.Raw("next_cursor") != "null" || one.Str("session_id") != saved.Str("session_id") {
			t.Errorf("got %s and %s", list.Body, one.Body)
		}
	})
	t.Run("unknown members are stored exactly", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		bubbles := `[{"id":"b1","type":"agent","text":"<b>&amp; 😀 \u2028</b>","x":{"z":1.10,"a":[12345678901234567890,1E5]},` +
			`"parts":[{"kind":"data","data":null}]}]`
		alice.Post(s+"/tasks", `{"task_id":"t1","message_bubbles":`+bubbles+`}`).Want(201)
		got := alice.Get(s + "/tasks/t1").Want(200)
		if diff := cmp.Diff(bubbles, got.Raw("message_bubbles")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got.Raw("user_message") != "null" || got.Raw("task_metadata") != "null" {
			t.Errorf("got %s", got.Body)
		}
	})
	t.Run("a second save updates the first", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		first := mustSave(t, alice, s, "t1", "question").Want(201)
		mustSave(t, alice, s, "t2", "later").Want(201)
		second := alice.Post(s+"/tasks", e2e.M{
			"task_id": "t1", "message_bubbles": []e2e.M{bubble("a", "user", "question"), bubble("b", "agent", "answer")},
			"task_metadata": e2e.M{"status": "completed"},
		}).Want(200)
		if first.Raw("created_time") != second.Raw("created_time") || first.Int("updated_time") > second.Int("updated_time") {
			t.Errorf("first %s, then %s", first.Body, second.Body)
		}
		got := alice.Get(s + "/tasks").Want(200)
		if diff := cmp.Diff([]string{"t1", "t2"}, got.Each("tasks", "task_id")); diff != "" {
			t.Error(diff)
		}
		if n := len(got.List("tasks.0.message_bubbles")); n != 2 {
			t.Errorf("%d bubbles", n)
		}
	})
	t.Run("tasks are listed oldest first, in pages", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		want := []string{"z", "m", "a", "t", "b"}
		for _, id := range want {
			mustSave(t, alice, s, id, "text of "+id)
		}
		for _, query := range []string{"", "?limit=2", "?limit=1"} {
			var got []string
			for _, page := range allPages(t, alice, s+"/tasks"+query) {
				got = append(got, page.Each("tasks", "task_id")...)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-want +got)\n%s", query, diff)
			}
		}
	})
	t.Run("a deleted task is gone", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustSave(t, alice, s, "t1", "x")
		mustSave(t, alice, s, "t2", "y")
		alice.Delete(s + "/tasks/t1").Want(204)
		alice.Get(s + "/tasks/t1").Want(404)
		alice.Delete(s + "/tasks/t1").Want(404)
		if diff := cmp.Diff([]string{"t2"}, alice.Get(s+"/tasks").Want(200).Each("tasks", "task_id")); diff != "" {
			t.Error(diff)
		}
		mustSave(t, alice, s, "t1", "again").Want(201)
	})
	t.Run("saving updates the session's activity", func(t *testing.T) {
		alice := sys.User(t, "alice")
		older := mustCreate(t, alice, e2e.M{"name": "older"})
		mustCreate(t, alice, e2e.M{"name": "newer"})
		mustSave(t, alice, older, "t1", "x")
		if diff := cmp.Diff([]string{"older", "newer"}, alice.Get(api+"/sessions").Want(200).Each("data", "name")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a session without tasks has an empty list", func(t *testing.T) {
		alice := sys.User(t, "alice")
		if got := alice.Get(mustCreate(t, alice, nil) + "/tasks").Want(200); got.Raw("tasks") != "[]" {
			t.Errorf("got %s", got.Body)
		}
	})
}

func testMessages(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("bubbles flatten to messages, oldest first", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		alice.Post(s+"/tasks", saleTask).Want(201)
		mustSave(t, alice, s, "t2", "and now?")
		got := alice.Get(s + "/messages").Want(200)
		want := []string{"msg-user-001", "msg-agent-001", "msg-agent-002", "msg-artifact-001", "m-t2"}
		if diff := cmp.Diff(want, got.Each("$", "id")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got.Str("0.message") != "Can you analyze this sales data?" || got.Str("0.sender_type") != "user" {
			t.Errorf("the first message is %s", got.Raw("0"))
		}
	})
	t.Run("pages list every message once", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		var want, got []string
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			mustSave(t, alice, s, id, id)
			want = append(want, "m-"+id)
		}
		for _, page := range allPages(t, alice, s+"/messages?limit=2") {
			got = append(got, page.Each("$", "id")...)
			if (page.Header.Get("X-Next-Cursor") == "") != (page.Next() == "") {
				t.Errorf("X-Next-Cursor and Link disagree: %v", page.Header)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("a session without tasks has no messages", func(t *testing.T) {
		alice := sys.User(t, "alice")
		got := alice.Get(mustCreate(t, alice, nil) + "/messages").Want(200)
		var list []json.RawMessage
		if err := json.Unmarshal(got.Body, &list); err != nil || len(list) != 0 || list == nil {
			t.Errorf("got %s", got.Body)
		}
	})
}
