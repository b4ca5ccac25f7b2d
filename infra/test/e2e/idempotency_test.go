package e2e_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testIdempotency(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("the same key and body give the same answer", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		id := s[len(sessionPath("")):]
		mustSave(t, alice, s, "t1", "x")
		for path, body := range map[string]any{
			api + "/sessions": e2e.M{"name": "once", "state": e2e.M{"a": 1}},
			s + "/events":     e2e.M{"events": []e2e.M{event("i1", "once")}},
			s + "/tasks":      e2e.M{"task_id": "t2", "message_bubbles": []e2e.M{bubble("b", "user", "once")}},
			api + "/feedback": e2e.M{"taskId": "t1", "feedbackType": "up", "sessionId": id},
		} {
			key := e2e.Header("Idempotency-Key", uuid.NewString())
			first := alice.Post(path, body, key).Want(201, 202)
			again := alice.Post(path, body, key).Want(first.Status)
			if diff := cmp.Diff(string(first.Body), string(again.Body)); diff != "" {
				t.Errorf("%s answers otherwise the second time:\n%s", path, diff)
			}
			if first.Header.Get("Idempotency-Replayed") != "" || again.Header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%s: Idempotency-Replayed is %q, then %q", path,
					first.Header.Get("Idempotency-Replayed"), again.Header.Get("Idempotency-Replayed"))
			}
			for _, name := range []string{"Etag", "Location"} {
				if first.Header.Get(name) != again.Header.Get(name) {
					t.Errorf("%s: %s is %q, then %q", path, name, first.Header.Get(name), again.Header.Get(name))
				}
			}
		}
		if n := len(alice.Get(api + "/sessions").List("data")); n != 2 {
			t.Errorf("%d sessions, want 2", n)
		}
		if n := len(alice.Get(s + "/events").List("data")); n != 1 {
			t.Errorf("%d events, want 1", n)
		}
		if n := len(alice.Get(api + "/feedback").List("feedback")); n != 1 {
			t.Errorf("%d feedback, want 1", n)
		}
	})
	t.Run("a request that is refused frees its key", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		for _, request := range []struct {
			path      string
			bad, good e2e.M
		}{
			{s + "/fork", e2e.M{"rewind_before_invocation_id": "none", "strict": true}, e2e.M{}},
			{s + "/rewind", e2e.M{"rewind_before_invocation_id": "none"}, e2e.M{"rewind_before_invocation_id": "inv-2"}},
			{s + "/runs", e2e.M{"agent": "nobody", "input": []e2e.M{says("hello")}}, e2e.M{"input": []e2e.M{says("hello")}}},
		} {
			key := e2e.Header("Idempotency-Key", uuid.NewString())
			alice.Post(request.path, request.bad, key).Want(400, 404, 422)
			alice.Post(request.path, request.good, key).Want(200, 201, 202)
		}
	})
	t.Run("the same key with another body is refused", func(t *testing.T) {
		alice := sys.User(t, "alice")
		key := e2e.Header("Idempotency-Key", uuid.NewString())
		alice.Post(api+"/sessions", e2e.M{"name": "one"}, key).Want(201)
		alice.Post(api+"/sessions", e2e.M{"name": "two"}, key).Want(422)
		if n := len(alice.Get(api + "/sessions").List("data")); n != 1 {
			t.Errorf("%d sessions", n)
		}
	})
	t.Run("a key belongs to its user", func(t *testing.T) {
		key := e2e.Header("Idempotency-Key", uuid.NewString())
		one := sys.User(t, "alice").Post(api+"/sessions", e2e.M{}, key).Want(201)
		two := sys.User(t, "bob").Post(api+"/sessions", e2e.M{}, key).Want(201)
		if one.Str("data.id") == two.Str("data.id") {
			t.Error("two users share a session")
		}
	})
	t.Run("a refused request can be corrected with the same key", func(t *testing.T) {
		alice := sys.User(t, "alice")
		key := e2e.Header("Idempotency-Key", uuid.NewString())
		alice.Post(api+"/sessions", e2e.M{"name": 1}, key, e2e.Bad).Want(400)
		alice.Post(api+"/sessions", e2e.M{"name": "1"}, key).Want(201)
	})
	t.Run("concurrent requests with one key do the work once", func(t *testing.T) {
		alice := sys.User(t, "alice")
		key := e2e.Header("Idempotency-Key", uuid.NewString())
		for _, status := range race(t, 8, func(ctx context.Context) (*e2e.Answer, error) {
			return alice.Try(ctx, "POST", api+"/sessions", e2e.M{"name": "once"}, key)
		}) {
			if status != 201 && status != 409 {
				t.Errorf("status %d", status)
			}
		}
		if n := len(alice.Get(api + "/sessions").List("data")); n != 1 {
			t.Errorf("%d sessions", n)
		}
	})
	t.Run("a key with unprintable or too many characters is refused", func(t *testing.T) {
		alice := sys.User(t, "alice")
		for _, key := range []string{"schlüssel", string(make([]byte, 0, 256)) + mustNoise(t, 256)} {
			alice.Post(api+"/sessions", e2e.M{}, e2e.Header("Idempotency-Key", key), e2e.Bad).Want(400, 422)
		}
	})
}
