package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
)

// badBody is a body that a route refuses, and the pointer in its problem.
type badBody struct {
	name, path, body string
	status           int
	pointer          string
}

func testBadInput(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	id := alice.Post(api+"/sessions", e2e.M{"name": "untouched"}).Want(201).Str("data.id")
	s := sessionPath(id)
	before := alice.Get(s).Want(200).Body
	for _, tc := range badBodies(s) {
		t.Run(tc.name, func(t *testing.T) {
			alice := sys.Bearer(t, alice.ID, alice.Token)
			method := "POST"
			if tc.path == s {
				method = "PATCH"
			}
			got := alice.Send(method, tc.path, tc.body, e2e.Bad).Want(tc.status)
			if got.Int("status") != int64(tc.status) || got.Str("detail") == "" {
				t.Errorf("got %s", got.Body)
			}
			if tc.pointer != "" && got.Str("errors.0.pointer") != tc.pointer {
				t.Errorf("points at %s, want %s", got.Str("errors.0.pointer"), tc.pointer)
			}
		})
	}
	testBadParameters(t, sys.Bearer(t, alice.ID, alice.Token), sys, s)
	t.Run("nothing has changed", func(t *testing.T) {
		if after := alice.Get(s).Want(200).Body; string(after) != string(before) {
			t.Errorf("the session went from %s to %s", before, after)
		}
		for path, list := range map[string]string{"/events?view=all": "data", "/tasks": "tasks"} {
			if n := len(alice.Get(s + path).Want(200).List(list)); n != 0 {
				t.Errorf("%s lists %d", path, n)
			}
		}
		if n := len(alice.Get(api + "/sessions").Want(200).List("data")); n != 1 {
			t.Errorf("%d sessions", n)
		}
	})
}

func badBodies(s string) []badBody {
	sessions, events, tasks, feedback := api+"/sessions", s+"/events", s+"/tasks", api+"/feedback"
	long := strings.Repeat("x", 129)
	one := func(bubble string) string { return `{"task_id":"t","message_bubbles":[` + bubble + `]}` }
	ev := func(e string) string { return `{"events":[` + e + `]}` }
	return []badBody{
		{"not JSON", sessions, `{"name":`, 400, ""},
		{"no body", sessions, ``, 400, ""},
		{"no object", sessions, `[]`, 400, ""},
		{"trailing data", sessions, `{} {}`, 400, ""},
		{"not UTF-8", sessions, "{\"name\":\"\xff\"}", 400, ""},
		{"half a character", sessions, `{"name":"\ud800"}`, 400, "/name"},
		{"a name of the wrong type", sessions, `{"name":1}`, 400, "/name"},
		{"a name too long", sessions, `{"name":"` + strings.Repeat("ü", 257) + `"}`, 422, "/name"},
		{"an id of the wrong type", sessions, `{"id":1}`, 400, "/id"},
		{"an id too long", sessions, `{"id":"` + long + `"}`, 422, "/id"},
		{"an empty id", sessions, `{"id":""}`, 422, "/id"},
		{"an id with a control character", sessions, `{"id":"a\u0007b"}`, 422, "/id"},
		{"an id with a slash", sessions, `{"id":"a/b"}`, 422, "/id"},
		{"metadata of the wrong type", sessions, `{"metadata":[]}`, 400, "/metadata"},
		{"metadata too large", sessions, `{"metadata":{"a":"` + strings.Repeat("x", 17_000) + `"}}`, 422, "/metadata"},
		{"state of the wrong type", sessions, `{"state":"x"}`, 400, "/state"},
		{"a state key too long", sessions, `{"state":{"` + strings.Repeat("k", 257) + `":1}}`, 422, ""},

		{"a change of nothing", s, `{}`, 422, ""},
		{"a change of the wrong type", s, `{"name":null,"metadata":1}`, 400, ""},

		{"no events", events, `{}`, 400, "/events"},
		{"events of the wrong type", events, `{"events":{}}`, 400, "/events"},
		{"an empty batch", events, `{"events":[]}`, 422, "/events"},
		{"101 events", events, ev(strings.Repeat(`{"invocation_id":"i","author":"u"},`, 100) + `{"invocation_id":"i","author":"u"}`), 422, "/events"},
		{"an event of the wrong type", events, ev(`1`), 400, "/events/0"},
		{"an event without an invocation", events, ev(`{"author":"u"}`), 400, "/events/0/invocation_id"},
		{"an event without an author", events, ev(`{"invocation_id":"i"}`), 400, "/events/0/author"},
		{"an empty author", events, ev(`{"invocation_id":"i","author":""}`), 422, "/events/0/author"},
		{"content of the wrong type", events, ev(`{"invocation_id":"i","author":"u","content":"x"}`), 400, "/events/0/content"},
		{"actions of the wrong type", events, ev(`{"invocation_id":"i","author":"u","actions":[]}`), 400, "/events/0/actions"},
		{"a state delta of the wrong type", events, ev(`{"invocation_id":"i","author":"u","actions":{"state_delta":1}}`), 400, "/events/0/actions/state_delta"},
		{"a negative version", events, ev(`{"invocation_id":"i","author":"u","actions":{"artifact_delta":{"a":-1}}}`), 422, "/events/0/actions/artifact_delta/a"},
		{"one bad event of two", events, ev(`{"invocation_id":"i","author":"u"},{"invocation_id":"i/","author":"u"}`), 422, "/events/1/invocation_id"},
		{"an id twice in a batch", events, ev(`{"id":"e","invocation_id":"i","author":"u"},{"id":"e","invocation_id":"i","author":"u"}`), 422, ""},
		{"expected_seq of the wrong type", events, `{"expected_seq":"0","events":[{"invocation_id":"i","author":"u"}]}`, 400, "/expected_seq"},
		{"expected_seq ahead of the log", events, `{"expected_seq":7,"events":[{"invocation_id":"i","author":"u"}]}`, 409, ""},

		{"no task_id", tasks, `{"message_bubbles":[{"id":"b","type":"user"}]}`, 400, "/task_id"},
		{"a task_id with a slash", tasks, `{"task_id":"a/b","message_bubbles":[{"id":"b","type":"user"}]}`, 422, "/task_id"},
		{"no bubbles", tasks, `{"task_id":"t"}`, 400, "/message_bubbles"},
		{"bubbles of the wrong type", tasks, `{"task_id":"t","message_bubbles":"x"}`, 400, "/message_bubbles"},
		{"empty bubbles", tasks, one(``), 422, "/message_bubbles"},
		{"101 bubbles", tasks, one(strings.Repeat(`{"id":"b","type":"user"},`, 100) + `{"id":"b","type":"user"}`), 422, "/message_bubbles"},
		{"a bubble without an id", tasks, one(`{"type":"user"}`), 400, "/message_bubbles/0/id"},
		{"a bubble without a type", tasks, one(`{"id":"b"}`), 400, "/message_bubbles/0/type"},
		{"an unknown type of bubble", tasks, one(`{"id":"b","type":"status"}`), 422, "/message_bubbles/0/type"},
		{"a status bubble", tasks, one(`{"id":"b","type":"agent","isStatusBubble":true}`), 422, "/message_bubbles/0/isStatusBubble"},
		{"a text of the wrong type", tasks, one(`{"id":"b","type":"user","text":1}`), 400, "/message_bubbles/0/text"},
		{"a text too long", tasks, one(`{"id":"b","type":"user","text":"` + strings.Repeat("x", 100_001) + `"}`), 422, "/message_bubbles/0/text"},
		{"parts of the wrong type", tasks, one(`{"id":"b","type":"user","parts":{}}`), 400, "/message_bubbles/0/parts"},
		{"a user_message too long", tasks, `{"task_id":"t","user_message":"` + strings.Repeat("x", 10_001) + `","message_bubbles":[{"id":"b","type":"user"}]}`, 422, "/user_message"},
		{"task_metadata of the wrong type", tasks, `{"task_id":"t","task_metadata":[],"message_bubbles":[{"id":"b","type":"user"}]}`, 400, "/task_metadata"},

		{"feedback on nothing", feedback, `{"feedbackType":"up"}`, 400, "/taskId"},
		{"feedback of no type", feedback, `{"taskId":"t"}`, 400, "/feedbackType"},
		{"feedback of an unknown type", feedback, `{"taskId":"t","feedbackType":"sideways"}`, 422, "/feedbackType"},
		{"feedback too long", feedback, `{"taskId":"t","feedbackType":"up","feedbackText":"` + strings.Repeat("x", 10_001) + `"}`, 422, "/feedbackText"},
		{"feedback in an unknown session", feedback, `{"taskId":"t","feedbackType":"up","sessionId":"nowhere"}`, 404, ""},
	}
}

func testBadParameters(t *testing.T, alice *e2e.User, sys *e2e.System, s string) {
	t.Helper()
	for path, status := range map[string]int{
		api + "/sessions?limit=0":                  400,
		api + "/sessions?limit=1001":               400,
		api + "/sessions?limit=ten":                400,
		api + "/sessions?status=busy":              400,
		api + "/sessions?cursor=nonsense":          400,
		s + "/events?view=some":                    400,
		s + "/events?order=up":                     400,
		s + "/events?after=-1":                     400,
		s + "/events?after=x":                      400,
		s + "/tasks?limit=-1":                      400,
		s + "/messages?cursor=%00":                 400,
		api + "/feedback?type=sideways":            400,
		sessionPath(strings.Repeat("x", 129)):      422,
		sessionPath("a%01b"):                       422,
		sessionPath(strings.Repeat("%C3%BC", 128)): 404,
		s + "/tasks/" + strings.Repeat("x", 129):   422,
	} {
		t.Run(fmt.Sprintf("GET %.60s", path), func(t *testing.T) {
			sys.Bearer(t, alice.ID, alice.Token).Get(path, e2e.Bad).Want(status)
		})
	}
	t.Run("a modified cursor", func(t *testing.T) {
		bob := sys.User(t, "bob")
		for range 3 {
			mustCreate(t, bob, nil)
		}
		cursor := bob.Get(api + "/sessions?limit=1").Want(200).Str("meta.next_cursor")
		for i := range len(cursor) {
			swap := "A"
			if cursor[i] == 'A' {
				swap = "Q"
			}
			bob.Get(api+"/sessions?limit=1&cursor="+cursor[:i]+swap+cursor[i+1:], e2e.Bad).Want(400)
		}
		t.Run("a cursor of another user", func(t *testing.T) {
			alice := sys.Bearer(t, alice.ID, alice.Token)
			alice.Get(api + "/sessions?limit=1&cursor=" + cursor).Want(400)
		})
	})
	t.Run("an If-Match that is not an ETag", func(t *testing.T) {
		sys.Bearer(t, alice.ID, alice.Token).
			Patch(s, e2e.M{"name": "x"}, e2e.Header("If-Match", "1"), e2e.Bad).Want(400, 412)
	})
	t.Run("a body that is not gzip, but declared as such", func(t *testing.T) {
		sys.Bearer(t, alice.ID, alice.Token).
			Post(s+"/tasks", "{}", e2e.Header("Content-Encoding", "gzip"), e2e.Bad).Want(400)
	})
	t.Run("a body in another content coding", func(t *testing.T) {
		sys.Bearer(t, alice.ID, alice.Token).
			Post(s+"/tasks", "{}", e2e.Header("Content-Encoding", "br"), e2e.Bad).Want(400)
	})
}
