package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testAISDK runs the demo agent over the AI SDK's UI message stream.
func testAISDK(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, chat := sys.User(t, "alice"), uuid.NewString()
	body := func(text string) e2e.M {
		return e2e.M{"id": chat, "trigger": "submit-message", "messageId": "u1", "messages": []e2e.M{
			{"id": "u1", "role": "user", "parts": []e2e.M{{"type": "text", "text": text}}},
		}}
	}
	const whole = "start data-rethread-run data-rethread-state start-step text-start text-delta text-end finish-step finish"
	t.Run("a run in a new session is streamed, and the same request gets it again", func(t *testing.T) {
		for range 2 {
			answer := alice.Post("/ai-sdk/demo", body("hello")).Want(200)
			body, done := strings.CutSuffix(string(answer.Body), "data: [DONE]\n\n")
			answer.Body = []byte(body)
			if events, types := aguiEvents(t, answer); types != whole || !done {
				t.Errorf("got %v", events)
			}
		}
		if got := string(alice.Get("/ai-sdk/demo/" + chat + "/messages").Want(200).Body); strings.Count(got, `"role"`) != 2 {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a message that was edited under its id rewinds the session", func(t *testing.T) {
		alice.Post("/ai-sdk/demo", body("other")).Want(200)
		if got := string(alice.Get("/ai-sdk/demo/" + chat + "/messages").Want(200).Body); strings.Count(got, `"role"`) != 2 || strings.Contains(got, "hello") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("nothing is resumed or stopped without a run in progress", func(t *testing.T) {
		alice.Get("/ai-sdk/demo/" + chat + "/stream").Want(204)
		if stopped := alice.Post("/ai-sdk/demo/"+chat+"/stop", nil).Want(200); stopped.Raw("run_id") != "null" {
			t.Errorf("got %s", stopped.Body)
		}
	})
}
