package e2e_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testResponses runs the demo agent as a model of Open Responses.
func testResponses(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	const whole = "response.created response.in_progress response.output_item.added response.content_part.added " +
		"response.output_text.delta response.output_text.done response.content_part.done response.output_item.done response.completed"
	first := alice.Post("/v1/responses", e2e.M{"model": "demo", "input": "hello"}).Want(200)
	t.Run("a response is complete, and the same when it is read and streamed later", func(t *testing.T) {
		if first.Str("status") != "completed" || first.Str("output.0.content.0.text") == "" {
			t.Errorf("got %s", first.Body)
		}
		path := "/v1/responses/" + first.Str("id")
		if again := alice.Get(path).Want(200); again.Raw("output") != first.Raw("output") {
			t.Errorf("got %s, then %s", first.Body, again.Body)
		}
		mustAnswerStream(t, alice.Get(path+"?stream=true").Want(200), whole)
	})
	t.Run("a stream ends with the response, and continues the conversation", func(t *testing.T) {
		next := alice.Post("/v1/responses", e2e.M{
			"model": "demo", "input": "more", "previous_response_id": first.Str("id"), "stream": true,
		}).Want(200)
		mustAnswerStream(t, next, whole)
		items := alice.Get("/v1/conversations/" + first.Str("conversation.id") + "/items?order=asc").Want(200)
		if strings.Count(string(items.Body), `"role"`) != 4 {
			t.Errorf("got %s", items.Body)
		}
	})
	t.Run("an older response continues in a fork", func(t *testing.T) {
		other := alice.Post("/v1/responses", e2e.M{"model": "demo", "input": "other", "previous_response_id": first.Str("id")}).Want(200)
		if other.Str("conversation.id") == first.Str("conversation.id") || other.Str("status") != "completed" {
			t.Errorf("got %s", other.Body)
		}
	})
	t.Run("a response runs in the background, once for its key", func(t *testing.T) {
		key := e2e.Header("Idempotency-Key", uuid.NewString())
		body := e2e.M{"model": "demo", "input": "hello", "background": true}
		begun := alice.Post("/v1/responses", body, key).Want(200)
		if again := alice.Post("/v1/responses", body, key).Want(200); again.Str("id") != begun.Str("id") {
			t.Errorf("got %s and %s", begun.Body, again.Body)
		}
		waitFor(t, func() bool { return alice.Get("/v1/responses/"+begun.Str("id")).Want(200).Str("status") == "completed" })
	})
	t.Run("agents are models, and what an agent cannot obey is refused", func(t *testing.T) {
		alice.Get("/v1/models/" + url.PathEscape("demo")).Want(200)
		refused := alice.Post("/v1/responses", e2e.M{"model": "demo", "input": "hello", "instructions": "Be brief."}).Want(400)
		if refused.Str("error.param") != "instructions" || refused.Str("error.code") != "unsupported_parameter" {
			t.Errorf("got %s", refused.Body)
		}
		if missing := alice.Post("/v1/responses", e2e.M{"model": "none", "input": "hello"}).Want(404); missing.Str("error.code") != "model_not_found" {
			t.Errorf("got %s", missing.Body)
		}
	})
}

// mustAnswerStream checks the types of a stream's events in order, repeated ones once.
func mustAnswerStream(t *testing.T, answer *e2e.Answer, want string) {
	t.Helper()
	var types []string
	body, done := strings.CutSuffix(string(answer.Body), "data: [DONE]\n\n")
	for line := range strings.Lines(body) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "event: "); ok && (len(types) == 0 || types[len(types)-1] != name) {
			types = append(types, name)
		}
	}
	if got := strings.Join(types, " "); got != want || !done {
		t.Errorf("the stream is %s", answer.Body)
	}
}
