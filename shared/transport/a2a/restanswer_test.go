package a2a_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// The compatible client of a2a-sdk 1.x sends the proto file's names over
// HTTP+JSON, and recognises an error by its name at the top.
func TestRESTOfClientsOf03(t *testing.T) {
	h := newPushServer(t)
	ask := func(method, path, body string) (int, map[string]any, string) {
		t.Helper()
		status, answer := h.request(t, alice, "", method, "/a2a/helper/v1"+path, body)
		var members map[string]any
		if err := json.Unmarshal([]byte(answer), &members); err != nil {
			t.Fatalf("%s %s: %d %q", method, path, status, answer)
		}
		return status, members, answer
	}
	status, sent, answer := ask(http.MethodPost, "/message:send", `{"request":{"message_id":"m","context_id":"c","role":"ROLE_USER",`+
		`"content":[{"text":"hi"},{"data":{"data":{"message_id":"mine"}}}],"metadata":{"context_id":"mine"}},"configuration":{"blocking":false,"history_length":1}}`)
	if status != http.StatusOK || strings.Count(answer, `"message_id":"mine"`) != 1 || strings.Count(answer, `"context_id":"mine"`) != 1 {
		t.Fatalf("%d %s", status, answer)
	}
	task, _ := sent["task"].(map[string]any)
	if task["contextId"] != "c" {
		t.Errorf("got %s", answer)
	}
	id, _ := task["id"].(string)
	for name, path := range map[string]string{"TaskNotFoundError": "/tasks/none", "InvalidRequestError": "/tasks/" + id + "?historyLength=x"} {
		if status, got, answer := ask(http.MethodGet, path, ""); status < 400 || got["type"] != name || got["message"] == nil || got["error"] == nil {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	created, got, answer := ask(http.MethodPost, "/tasks/"+id+"/pushNotificationConfigs", `{"name":"","pushNotificationConfig":{"id":"mine","url":"https://example.com/"}}`)
	if config, _ := got["pushNotificationConfig"].(map[string]any); created != http.StatusOK || config["id"] != "mine" {
		t.Errorf("%d %s", created, answer)
	}
	if status, got, answer := ask(http.MethodPost, "/message:stream", `{}`); status != http.StatusBadRequest || got["type"] != "InvalidParamsError" {
		t.Errorf("%d %s", status, answer)
	}
}

func TestDeletingAPushConfigOverRESTAnswersAnObject(t *testing.T) {
	h := newPushServer(t)
	begun := h.mustTask(t, h.mustDial(t, alice, "JSONRPC", "1.0"), nil)
	for version, prefix := range map[string]string{"": "/v1", "1.0": ""} {
		status, answer := h.request(t, alice, version, http.MethodDelete, "/a2a/helper"+prefix+"/tasks/"+string(begun.ID)+"/pushNotificationConfigs/c", "")
		if status != http.StatusOK || answer != "{}" {
			t.Errorf("%s: %d %q", version, status, answer)
		}
	}
}
