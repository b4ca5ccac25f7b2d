package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/pick"
)

func testTaskSizes(t *testing.T, sys *e2e.System) {
	t.Helper()
	gzipped := e2e.Header("Content-Encoding", "gzip")
	t.Run("8 MB can be written and read with gzip", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		body := mustBigTask(t, 8<<20)
		alice.Post(s+"/tasks", e2e.Gzip(t, body), gzipped).Want(201)
		got := alice.Get(s + "/tasks/big").Want(200) // the client requests gzip by default
		want, err := pick.Raw(body, "message_bubbles")
		if err != nil {
			t.Fatal(err)
		}
		if got.Raw("message_bubbles") != string(want) {
			t.Error("the bubbles came back changed")
		}
		if n := len(alice.Get(s + "/tasks").Want(200).List("tasks")); n != 1 {
			t.Errorf("%d tasks are listed", n)
		}
	})
	t.Run("without gzip, a large task's error explains how to get it", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		alice.Post(s+"/tasks", e2e.Gzip(t, mustBigTask(t, 8<<20)), gzipped).Want(201)
		got := alice.Get(s+"/tasks/big", e2e.Header("Accept-Encoding", "identity")).Want(413)
		if !strings.Contains(got.Str("detail"), "gzip") {
			t.Errorf("got %s", got.Body)
		}
	})
	t.Run("more than 10 MB is refused, compressed or not", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		body := mustBigTask(t, 10<<20+200_000)
		refused := alice.Post(s+"/tasks", e2e.Gzip(t, body), gzipped, e2e.Bad).Want(413)
		if !strings.Contains(refused.Str("detail"), "10 MB") {
			t.Errorf("got %s", refused.Body)
		}
		alice.Post(s+"/tasks", body, e2e.Bad).Want(413)
		alice.Get(s + "/tasks/big").Want(404)
	})
	t.Run("many large tasks are paged", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		var want, got []string
		for i := range 5 {
			id := fmt.Sprint("t", i)
			mustSave(t, alice, s, id, strings.Repeat("x", 9_000))
			alice.Post(s+"/tasks", e2e.M{"task_id": id, "message_bubbles": []e2e.M{
				{"id": "b", "type": "agent", "files": []e2e.M{{"name": "f", "content": mustNoise(t, 2_000_000)}}},
			}}).Want(200)
			want = append(want, id)
		}
		pages := allPages(t, alice, s+"/tasks")
		for _, page := range pages {
			got = append(got, page.Each("tasks", "task_id")...)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(pages) < 2 {
			t.Errorf("on %d pages (-want +got)\n%s", len(pages), diff)
		}
	})
	t.Run("answers are compressed on request", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustSave(t, alice, s, "t1", strings.Repeat("a", 5_000))
		packed := alice.Get(s+"/tasks", e2e.Header("Accept-Encoding", "gzip")).Want(200)
		plain := alice.Get(s+"/tasks", e2e.Header("Accept-Encoding", "identity")).Want(200)
		if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("codings %v and %v", packed.Header, plain.Header)
		}
		if len(packed.Body) >= len(plain.Body)/10 {
			t.Errorf("packed %d bytes, plain %d", len(packed.Body), len(plain.Body))
		}
	})
}

// mustBigTask makes a task of n bytes that gzip reduces to about a quarter.
func mustBigTask(t *testing.T, n int) []byte {
	t.Helper()
	const bubbles = 50
	list := make([]e2e.M, bubbles)
	for i := range list {
		noise := mustNoise(t, n/bubbles/4+i)
		list[i] = e2e.M{
			"id": fmt.Sprint("b", i), "type": "agent",
			"files": []e2e.M{{"name": "f", "content": noise + strings.Repeat("=", n/bubbles-len(noise)-80)}},
		}
	}
	body, err := json.Marshal(e2e.M{"task_id": "big", "message_bubbles": list})
	if err != nil {
		t.Fatal(err)
	}
	return body
}
