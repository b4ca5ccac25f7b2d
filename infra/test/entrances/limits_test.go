package entrances_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/receiver"
)

// TestFixedNumbersAreConflicts adds things until there are as many as there may be: the
// next one is a conflict, of which the caller can delete one, and no fault of the request.
func TestFixedNumbersAreConflicts(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"here"}`))
	s.do(t, post("/a2a/helper/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`)) // no worker takes it
	var list struct{ Tasks []struct{ ID string } }
	if err := json.Unmarshal([]byte(s.must(t, http.StatusOK, get("/a2a/helper/tasks"))), &list); err != nil || len(list.Tasks) != 1 {
		t.Fatal(list, err)
	}
	task := list.Tasks[0].ID
	configs := "/a2a/helper/tasks/" + task + "/pushNotificationConfigs"
	cases := []struct {
		name    string
		most    int
		add     request // with NUMBER for one
		refusal string
	}{
		{"webhooks", receiver.MaxWebhooks, post("/api/v1/webhooks", `{"url":"https://example.com/NUMBER"}`), `"code":"limit_reached"`},
		{"automations", automation.MaxAutomations, post("/api/v1/automations", `{"name":"NUMBER","on":{"types":["feedback.created"]},"do":{"agent":"helper","session":"new","input":"Hi"}}`), `"code":"limit_reached"`},
		{"shares", access.MaxShares, post("/api/v1/sessions/here/shares", `{"user_id":"user-NUMBER","access":"read"}`), `"code":"limit_reached"`},
		{"push configurations", receiver.MaxPushConfigs, post(configs, `{"id":"NUMBER","url":"https://example.com/"}`), "UNSUPPORTED_OPERATION"},
		{"push configurations over JSON-RPC", 0, rpc("/a2a/helper", "CreateTaskPushNotificationConfig", `{"taskId":"`+task+`","id":"more","url":"https://example.com/"}`), "UNSUPPORTED_OPERATION"},
	}
	for _, c := range cases {
		for i := range c.most + 1 {
			add := c.add
			add.body = strings.ReplaceAll(add.body, "NUMBER", fmt.Sprint(i))
			status, body := s.do(t, add)
			if refused := i == c.most; refused != strings.Contains(body, c.refusal) || !refused && status >= http.StatusBadRequest {
				t.Fatalf("%s, number %d: %d %s", c.name, i, status, body)
			}
		}
	}
	if len(cases) < 5 {
		t.Errorf("only %d cases", len(cases))
	}
}
