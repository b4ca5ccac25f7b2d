package a2a_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/access"
)

// TestViolations requires that errors name the fields that break a rule, over both
// bindings, so that forms can show them there.
func TestViolations(t *testing.T) {
	h := newPushServer(t)
	begun := h.mustTask(t, h.mustDial(t, alice, lib.TransportProtocolJSONRPC, "1.0"), nil)
	for name, test := range map[string]struct{ config, want string }{
		"an address": {
			`{"url":"http://example.com/"}`, `[{"description":"cannot be called: must be https","field":"url"}]`,
		},
		"a member of a member": {
			`{"url":"https://example.com/","authentication":{"scheme":"","credentials":"x"}}`,
			`[{"description":"must say what the credentials are for","field":"authentication.scheme"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rest := h.violations(t, "/a2a/helper/tasks/"+string(begun.ID)+"/pushNotificationConfigs", test.config)
			if diff := cmp.Diff(test.want, rest); diff != "" {
				t.Errorf("over HTTP+JSON (-want +got):\n%s", diff)
			}
			call := `{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":` +
				strings.Replace(test.config, "{", `{"taskId":"`+string(begun.ID)+`",`, 1) + `}`
			if diff := cmp.Diff(test.want, h.violations(t, "/a2a/helper", call)); diff != "" {
				t.Errorf("over JSON-RPC (-want +got):\n%s", diff)
			}
		})
	}
}

// violations returns the fields that the error to a request names.
func (h *pushServer) violations(t *testing.T, path, body string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(access.WithCaller(t.Context(), access.Caller{UserID: alice, Token: "token"}), http.MethodPost, path, strings.NewReader(body))
	r.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	type detail struct {
		Violations json.RawMessage `json:"fieldViolations"`
	}
	var answer struct {
		Error struct {
			Details []detail `json:"details"`
			Data    []detail `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, d := range append(answer.Error.Details, answer.Error.Data...) {
		if len(d.Violations) > 0 {
			return string(d.Violations)
		}
	}
	t.Fatalf("no fields are named: %s", text)
	return ""
}
