package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/session"
)

// TestIDsWithQuestionMark checks that new ids must not contain "?", which
// gateways may take for the start of a query, while existing ones are still
// found.
func TestIDsWithQuestionMark(t *testing.T) {
	s, run := external(t)
	s.mustCreate(t, alice, `{"id":"here"}`)
	const task = `{"task_id":"t?1","user_message":"Hi","message_bubbles":"[{\"id\":\"b\"}]"}`
	for name, c := range map[string]struct {
		pointer string
		request request
	}{
		"session":                   {"/id", post(alice, "/sessions", `{"id":"a?b"}`)},
		"event":                     {"/events/0/id", post(alice, "/sessions/here/events", batch(`{"id":"e?","invocation_id":"i","author":"a"}`))},
		"invocation":                {"/events/0/invocation_id", post(alice, "/sessions/here/events", batch(`{"invocation_id":"i?","author":"a"}`))},
		"input of a run":            {"/input/0/id", post(alice, "/sessions/here/runs", `{"input":[{"id":"?","content":{"parts":[{"text":"x"}]}}]}`)},
		"item of an external run":   {"/item_id", post(alice, run+"/deltas", deltas("x?", "", "text"))},
		"event of an external run":  {"/events/0/id", post(alice, run+"/events", batch(`{"id":"x?","author":"a","content":{"parts":[]}}`))},
		"task":                      {"/task_id", post(alice, "/sessions/here/tasks", task)},
		"artifact":                  {"name", request{user: alice, method: http.MethodPut, path: "/sessions/here/artifacts/a%3Fb", body: "x"}},
		"invocation of an artifact": {"invocation_id", request{user: alice, method: http.MethodPut, path: "/sessions/here/artifacts/a?invocation_id=x%3F", body: "x"}},
		"task as A2A carries it":    {"/id", post(alice, "/api/tasks", `{"id":"t?","contextId":"here","kind":"task","status":{"state":"completed"}}`)},
	} {
		t.Run(name, func(t *testing.T) { s.mustRefuse(t, http.StatusUnprocessableEntity, c.pointer, c.request) })
	}
	_, err := s.config.Sessions.Create(t.Context(), session.New{
		ID: "old?one", UserID: alice, AppName: session.DefaultApp, Metadata: []byte("{}"), Nonce: uuid.NewString(),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.must(t, http.StatusOK, get(alice, "/sessions/old%3Fone"))
	s.must(t, http.StatusNoContent, del(alice, "/sessions/old%3Fone"))
	s.must(t, http.StatusOK, get(alice, "/sessions/here"))
}
