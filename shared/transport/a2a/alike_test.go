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

// varying is what differs between two answers of one kind: ids, but not those
// that the request named, and times.
var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// Whether a task or a context is another's or nobody's, the answer is the same.
func TestAlike(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	c := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, lib.Version)
	begun := h.mustTask(t, c, &lib.PushConfig{ID: "mine", URL: "https://example.com/"})
	if _, err := h.store.Create(t.Context(), session.New{ID: "hers", UserID: alice, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	alike := func(version, path, method, form string, hers string) {
		asked++
		of := func(id string) string {
			status, answer := h.asks(t, stranger, version, method, fmt.Sprintf(path, id), strings.ReplaceAll(form, "ID", id))
			return fmt.Sprint(status, " ", varying.ReplaceAllString(strings.ReplaceAll(answer, id, "ID"), "…"))
		}
		theirs, nobodys := of(hers), of("nobodys")
		if theirs != nobodys || strings.Contains(theirs, "hello") {
			t.Errorf("%s %s %s of another:\n%s\nof nobody:\n%s", method, path, form, theirs, nobodys)
		}
	}
	for _, id := range []string{string(begun.ID), begun.ContextID, "hers"} { // the second and the third are no tasks
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
			alike("1.0", "/a2a/helper%.0s", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, id)
		}
		for method, params := range map[string]string{
			"tasks/get": `{"id":"ID"}`, "tasks/cancel": `{"id":"ID"}`, "tasks/resubscribe": `{"id":"ID"}`,
			"message/send":                        `{"message":{"kind":"message","messageId":"m","role":"user","taskId":"ID","parts":[{"kind":"text","text":"x"}]}}`,
			"tasks/pushNotificationConfig/set":    `{"taskId":"ID","pushNotificationConfig":{"id":"mine","url":"https://example.com/"}}`,
			"tasks/pushNotificationConfig/get":    `{"id":"ID"}`,
			"tasks/pushNotificationConfig/list":   `{"id":"ID"}`,
			"tasks/pushNotificationConfig/delete": `{"id":"ID","pushNotificationConfigId":"mine"}`,
		} {
			alike("", "/a2a/helper%.0s", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, id)
		}
		for _, prefix := range []string{"/a2a/helper", "/a2a/helper/v1"} {
			alike("", prefix+"/tasks/%s", http.MethodGet, "", id)
			alike("", prefix+"/tasks?contextId=%s", http.MethodGet, "", id)
			alike("", prefix+"/tasks/%s:cancel", http.MethodPost, "{}", id)
			alike("", prefix+"/tasks/%s/pushNotificationConfigs", http.MethodGet, "", id)
			alike("", prefix+"/tasks/%s/pushNotificationConfigs/mine", http.MethodGet, "", id)
			alike("", prefix+"/tasks/%s/pushNotificationConfigs/mine", http.MethodDelete, "", id)
			alike("", prefix+"/tasks/%s/pushNotificationConfigs", http.MethodPost, `{"url":"https://example.com/"}`, id)
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
			alike(version, "/a2a/helper%.0s", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"message":`+message+`}}`, id)
		}
		alike("1.0", "/a2a/helper/message:send%.0s", http.MethodPost, `{"message":`+rewind+`}`, id)
	}
	t.Logf("%d questions", asked)
	if asked < 100 {
		t.Errorf("only %d questions", asked)
	}
	t.Run("nothing of hers has changed", func(t *testing.T) {
		configs, err := c.ListTaskPushConfigs(t.Context(), &lib.ListTaskPushConfigRequest{TaskID: begun.ID})
		if err != nil || configIDs(configs) != "mine" {
			t.Errorf("%v, %v", configs, err)
		}
		if got, err := c.GetTask(t.Context(), &lib.GetTaskRequest{ID: begun.ID}); err != nil || got.Status.State.Terminal() {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// A context that nobody has used is made, so one that is taken cannot be answered
// as one that is not there: it is forbidden, as a session's id is a conflict.
func TestContextOfAnother(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	if _, err := h.store.Create(t.Context(), session.New{ID: "hers", UserID: alice, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	before, err := h.store.Get(t.Context(), alice, "hers")
	if err != nil {
		t.Fatal(err)
	}
	message := `{"message":{"messageId":"m","role":"ROLE_USER","contextId":"hers","parts":[{"text":"x"}]}}`
	for range 2 {
		status, answer := h.asks(t, stranger, "1.0", http.MethodPost, "/a2a/helper/message:send", message)
		if status != http.StatusForbidden || !strings.Contains(answer, "the context belongs to somebody else") {
			t.Errorf("%d %s", status, answer)
		}
		status, answer = h.asks(t, stranger, "1.0", http.MethodPost, "/a2a/helper", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+message+`}`)
		if status != http.StatusOK || !strings.Contains(answer, "the context belongs to somebody else") {
			t.Errorf("%d %s", status, answer)
		}
	}
	if after, err := h.store.Get(t.Context(), alice, "hers"); err != nil || after.Version != before.Version || after.HeadSeq != before.HeadSeq {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
	if page, err := h.store.List(t.Context(), session.ListQuery{UserID: stranger, Limit: 10}); err != nil || len(page.Sessions) != 0 {
		t.Errorf("the stranger has %v, %v", page, err)
	}
}

// asks sends a request to the server, and returns what it is answered.
func (h *hooks) asks(t *testing.T, user, version, method, path, body string) (status int, answer string) {
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
