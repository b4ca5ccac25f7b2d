package a2a_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/session"
)

const stranger = "stranger"

// varying matches what differs between two answers of one kind: generated ids
// and times.
var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// A task or context of another user gets the same answer as an unknown one.
func TestUnknownAndForeignIDsAnswerAlike(t *testing.T) {
	t.Parallel()
	h := newPushServer(t)
	c := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, lib.Version)
	begun := h.mustTask(t, c, &lib.PushConfig{ID: "mine", URL: "https://example.com/"})
	if _, err := h.store.Sessions.Create(t.Context(), session.New{ID: "hers", UserID: alice, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	requests := 0
	check := func(version, path, method, form string, hers string) {
		requests++
		of := func(id string) string {
			status, answer := h.request(t, stranger, version, method, fmt.Sprintf(path, id), strings.ReplaceAll(form, "ID", id))
			return fmt.Sprint(status, " ", varying.ReplaceAllString(strings.ReplaceAll(answer, id, "ID"), "…"))
		}
		foreign, unknown := of(hers), of("unknown")
		if foreign != unknown || strings.Contains(foreign, "hello") {
			t.Errorf("%s %s %s with another user's id:\n%s\nwith an unknown id:\n%s", method, path, form, foreign, unknown)
		}
	}
	for _, id := range []string{string(begun.ID), begun.ContextID, "hers"} { // the second and the third are contexts
		for method, params := range map[string]string{
			"GetTask": `{"id":"ID"}`, "CancelTask": `{"id":"ID"}`, "SubscribeToTask": `{"id":"ID"}`,
			"SendMessage":                      `{"message":{"messageId":"m","role":"ROLE_USER","taskId":"ID","parts":[{"text":"x"}]}}`,
			"SendStreamingMessage":             `{"message":{"messageId":"m","role":"ROLE_USER","taskId":"ID","parts":[{"text":"x"}]}}`,
			"ListTasks":                        `{"contextId":"ID"}`,
			"CreateTaskPushNotificationConfig": `{"taskId":"ID","id":"mine","url":"https://example.com/"}`,
			"GetTaskPushNotificationConfig":    `{"taskId":"ID","id":"mine"}`,
			"ListTaskPushNotificationConfigs":  `{"taskId":"ID"}`,
			"DeleteTaskPushNotificationConfig": `{"taskId":"ID","id":"mine"}`,
		} {
			check("1.0", "/a2a/helper%.0s", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, id)
		}
		for method, params := range map[string]string{
			"tasks/get": `{"id":"ID"}`, "tasks/cancel": `{"id":"ID"}`, "tasks/resubscribe": `{"id":"ID"}`,
			"message/send":                        `{"message":{"kind":"message","messageId":"m","role":"user","taskId":"ID","parts":[{"kind":"text","text":"x"}]}}`,
			"tasks/pushNotificationConfig/set":    `{"taskId":"ID","pushNotificationConfig":{"id":"mine","url":"https://example.com/"}}`,
			"tasks/pushNotificationConfig/get":    `{"id":"ID"}`,
			"tasks/pushNotificationConfig/list":   `{"id":"ID"}`,
			"tasks/pushNotificationConfig/delete": `{"id":"ID","pushNotificationConfigId":"mine"}`,
		} {
			check("", "/a2a/helper%.0s", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, id)
		}
		for _, prefix := range []string{"/a2a/helper", "/a2a/helper/v1"} {
			check("", prefix+"/tasks/%s", http.MethodGet, "", id)
			check("", prefix+"/tasks?contextId=%s", http.MethodGet, "", id)
			check("", prefix+"/tasks/%s:cancel", http.MethodPost, "{}", id)
			check("", prefix+"/tasks/%s/pushNotificationConfigs", http.MethodGet, "", id)
			check("", prefix+"/tasks/%s/pushNotificationConfigs/mine", http.MethodGet, "", id)
			check("", prefix+"/tasks/%s/pushNotificationConfigs/mine", http.MethodDelete, "", id)
			check("", prefix+"/tasks/%s/pushNotificationConfigs", http.MethodPost, `{"url":"https://example.com/"}`, id)
		}
	}
	rewind := `{"messageId":"m","role":"ROLE_USER","contextId":"ID","parts":[{"text":"x"}],"metadata":{"kagent_rewind_before_invocation_id":"i"}}`
	old := strings.NewReplacer(`"messageId"`, `"kind":"message","messageId"`, "ROLE_USER", "user", `{"text"`, `{"kind":"text","text"`).Replace(rewind)
	for _, id := range []string{begun.ContextID, "hers"} {
		for method, message := range map[string]string{"SendMessage": rewind, "SendStreamingMessage": rewind, "message/send": old, "message/stream": old} {
			version := ""
			if strings.HasPrefix(method, "Send") {
				version = "1.0"
			}
			check(version, "/a2a/helper%.0s", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"message":`+message+`}}`, id)
		}
		check("1.0", "/a2a/helper/message:send%.0s", http.MethodPost, `{"message":`+rewind+`}`, id)
	}
	t.Logf("%d requests", requests)
	if requests < 100 {
		t.Errorf("only %d requests", requests)
	}
	t.Run("the requests have changed nothing", func(t *testing.T) {
		configs, err := c.ListTaskPushConfigs(t.Context(), &lib.ListTaskPushConfigRequest{TaskID: begun.ID})
		if err != nil || configIDs(configs) != "mine" {
			t.Errorf("%v, %v", configs, err)
		}
		if got, err := c.GetTask(t.Context(), &lib.GetTaskRequest{ID: begun.ID}); err != nil || got.Status.State.Terminal() {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// An unknown context is created, so one of another user cannot be answered as
// not found: it is forbidden, as an id in use is a conflict for sessions.
func TestContextOfAnotherUser(t *testing.T) {
	t.Parallel()
	h := newPushServer(t)
	if _, err := h.store.Sessions.Create(t.Context(), session.New{ID: "hers", UserID: alice, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	before, err := h.store.Sessions.Get(t.Context(), alice, "hers")
	if err != nil {
		t.Fatal(err)
	}
	message := `{"message":{"messageId":"m","role":"ROLE_USER","contextId":"hers","parts":[{"text":"x"}]}}`
	for range 2 {
		status, answer := h.request(t, stranger, "1.0", http.MethodPost, "/a2a/helper/message:send", message)
		if status != http.StatusForbidden || !strings.Contains(answer, "the context belongs to somebody else") {
			t.Errorf("%d %s", status, answer)
		}
		status, answer = h.request(t, stranger, "1.0", http.MethodPost, "/a2a/helper", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+message+`}`)
		if status != http.StatusOK || !strings.Contains(answer, "the context belongs to somebody else") {
			t.Errorf("%d %s", status, answer)
		}
	}
	if after, err := h.store.Sessions.Get(t.Context(), alice, "hers"); err != nil || after.Version != before.Version || after.HeadSeq != before.HeadSeq {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
	if page, err := h.store.Sessions.List(t.Context(), session.ListQuery{UserID: stranger, Limit: 10}); err != nil || len(page.Sessions) != 0 {
		t.Errorf("the stranger has %v, %v", page, err)
	}
}

// request sends a request to the server and returns the answer.
func (h *pushServer) request(t *testing.T, user, version, method, path, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, h.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if version != "" {
		r.Header.Set("A2A-Version", version)
	}
	got, err := (&http.Client{Transport: as(user)}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}
