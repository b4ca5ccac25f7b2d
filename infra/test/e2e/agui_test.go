package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// aguiEvents returns the events of a stream, and their types without repetitions.
func aguiEvents(t *testing.T, a *e2e.Answer) (events []map[string]any, types string) {
	t.Helper()
	last := ""
	for _, line := range strings.Split(string(a.Want(200).Body), "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if kind, _ := e["type"].(string); kind != last {
			last = kind
			types += " " + kind
		}
		events = append(events, e)
	}
	return events, strings.TrimSpace(types)
}

func aguiInput(thread, run string, ids ...string) e2e.M {
	messages := []e2e.M{}
	for _, id := range ids {
		messages = append(messages, e2e.M{"id": id, "role": "user", "content": "say " + id})
	}
	return e2e.M{"threadId": thread, "runId": run, "messages": messages}
}

// testAGUI runs the demo agent over AG-UI.
func testAGUI(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, thread := sys.User(t, "alice"), uuid.NewString()
	const whole = "RUN_STARTED STATE_SNAPSHOT TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED"
	t.Run("a run in a new thread is streamed, and the same request gets it again", func(t *testing.T) {
		for range 2 {
			events, types := aguiEvents(t, alice.Post("/agui/demo", aguiInput(thread, "r1", "u1")))
			if types != whole {
				t.Errorf("got %v", events)
			}
		}
		alice.Get(api + "/sessions/" + thread + "/runs/r1").Want(200)
	})
	users := func() string {
		t.Helper()
		events, types := aguiEvents(t, alice.Get("/agui/demo/threads/"+thread))
		if want := "RUN_STARTED MESSAGES_SNAPSHOT STATE_SNAPSHOT RUN_FINISHED"; types != want {
			t.Fatalf("got %v", events)
		}
		ids := []string{}
		for _, m := range events[1]["messages"].([]any) {
			if m := m.(map[string]any); m["role"] == "user" {
				ids = append(ids, m["id"].(string))
			}
		}
		return strings.Join(ids, " ")
	}
	t.Run("a thread is joined, and rewound for a list of messages that was cut", func(t *testing.T) {
		aguiEvents(t, alice.Post("/agui/demo", aguiInput(thread, "r2", "u2")))
		if got := users(); got != "u1 u2" {
			t.Errorf("the thread has the messages %s", got)
		}
		aguiEvents(t, alice.Post("/agui/demo", aguiInput(thread, "r3", "u1", "u3")))
		if got := users(); got != "u1 u3" {
			t.Errorf("the thread has the messages %s", got)
		}
	})
	t.Run("errors come before the stream, with their status", func(t *testing.T) {
		alice.Post("/agui/nobody", aguiInput(thread, "r4", "u4")).Want(404)
		alice.Post("/agui/demo", e2e.M{"threadId": thread}, e2e.Bad).Want(400)
		sys.User(t, "mallory").Post("/agui/demo", aguiInput(thread, "r4", "u4")).Want(403)
		alice.Post("/agui/demo", aguiInput(thread, "r3", "u9")).Want(409)
		if stopped := alice.Post("/agui/demo/threads/"+thread+"/stop", nil).Want(200); stopped.Raw("runId") != "null" {
			t.Errorf("got %s", stopped.Body)
		}
	})
}
