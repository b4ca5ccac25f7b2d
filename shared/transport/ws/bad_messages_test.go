package ws_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/shared/transport/ws"
)

func TestBadMessages(t *testing.T) {
	described := mustContract(t)
	long := strings.Repeat("x", 129)
	for name, c := range map[string]struct {
		body, pointer string
		status        int
	}{
		"an empty message":            {``, "", 400},
		"invalid JSON":                {`{"action":`, "", 400},
		"an array":                    {`["subscribe"]`, "", 400},
		"null":                        {`null`, "", 400},
		"invalid UTF-8":               {"{\"action\":\"ping\",\"request_id\":\"\xff\"}", "", 400},
		"no action":                   {`{"session_id":"s1"}`, "/action", 400},
		"a numeric action":            {`{"action":1}`, "/action", 400},
		"an unknown action":           {`{"action":"dance"}`, "/action", 422},
		"an action in capitals":       {`{"action":"Ping"}`, "/action", 422},
		"no session":                  {`{"action":"subscribe"}`, "/session_id", 400},
		"a session that is null":      {`{"action":"subscribe","session_id":null}`, "/session_id", 400},
		"an invalid session id":       {`{"action":"subscribe","session_id":"a/b"}`, "/session_id", 422},
		"an empty session id":         {`{"action":"unsubscribe","session_id":""}`, "/session_id", 422},
		"an invalid cursor":           {`{"action":"subscribe","session_id":"s1","cursor":"1.2"}`, "/cursor", 400},
		"a cursor that is a number":   {`{"action":"subscribe","session_id":"s1","cursor":1.2}`, "/cursor", 400},
		"an item id too long":         {`{"action":"subscribe","session_id":"s1","last_item_id":"` + long + `"}`, "/last_item_id", 422},
		"two positions":               {`{"action":"subscribe","session_id":"s1","last_item_id":"e","cursor":"0.1.0"}`, "/cursor", 422},
		"a misspelt member":           {`{"action":"subscribe","session_id":"s1","curser":"0.1.0"}`, "/curser", 422},
		"unsubscribe with a position": {`{"action":"unsubscribe","session_id":"s1","cursor":"0.1.0"}`, "/cursor", 422},
		"ping with a session":         {`{"action":"ping","session_id":"s1"}`, "/session_id", 422},
		"a request id too long":       {`{"action":"ping","request_id":"` + long + `"}`, "/request_id", 422},
		"an empty request id":         {`{"action":"ping","request_id":""}`, "/request_id", 422},
		"a request id that is a list": {`{"action":"ping","request_id":[]}`, "/request_id", 400},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeDomain(t)
			got := w.send(c.body)
			if len(got) != 1 {
				t.Fatalf("got %v", got)
			}
			var answer ws.Answer
			if err := json.Unmarshal([]byte(got[0]), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.Type != "error" || answer.Status != c.status || answer.RequestID != "r-gateway" {
				t.Errorf("got %s", got[0])
			}
			if c.pointer != "" && (len(answer.Errors) != 1 || answer.Errors[0].Pointer != c.pointer) {
				t.Errorf("got %s, want an error at %s", got[0], c.pointer)
			}
			w.wantCalls() // the domain is not called, and the connection stays open
			wantContract(t, described, got)
		})
	}
	t.Run("a binary message", func(t *testing.T) {
		w := newFakeDomain(t)
		got := w.sendEvent(func(e *events.APIGatewayWebsocketProxyRequest) {
			e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(`{"action":"ping"}`)), true
		})
		if len(got) != 1 || !strings.Contains(got[0], `"status":400`) {
			t.Errorf("got %v", got)
		}
		w.wantCalls()
	})
	t.Run("an error names its request and session", func(t *testing.T) {
		got := newFakeDomain(t).send(`{"cursor":"x","request_id":"r","session_id":"s1","action":"subscribe"}`)
		if len(got) != 1 || !strings.HasPrefix(got[0], `{"type":"error","request_id":"r","session_id":"s1","status":400`) {
			t.Errorf("got %v", got)
		}
	})
}

// wantContract checks frames against infra/asyncapi.yaml.
func wantContract(t *testing.T, described *contract.Messages, frames []string) {
	t.Helper()
	for _, frame := range frames {
		if err := described.Check([]byte(frame)); err != nil {
			t.Error(err)
		}
	}
}

func mustContract(t *testing.T) *contract.Messages {
	t.Helper()
	described, err := contract.LoadMessages()
	if err != nil {
		t.Fatal(err)
	}
	return described
}
