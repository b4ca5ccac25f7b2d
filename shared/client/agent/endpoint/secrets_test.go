package endpoint_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
)

// vault has one secret, which renewing replaces.
type vault struct {
	value, next string
	renewed     int
}

func (v *vault) Secret(_ context.Context, name string) (string, error) {
	if name != "/agents/key" {
		return "", errors.New("missing: " + name)
	}
	return v.value, nil
}

func (v *vault) Renew(_ context.Context, _, refused string) bool {
	v.renewed++
	v.value = v.next
	return v.value != refused
}

func TestSecrets(t *testing.T) {
	for name, test := range map[string]struct {
		parameter string
		vault     vault
		sent      []string
		code      string
	}{
		"is sent":                     {"/agents/key", vault{value: "good-one", next: "x"}, []string{"Bearer good-one"}, ""},
		"is renewed when refused":     {"/agents/key", vault{value: "bad-one", next: "good-one"}, []string{"Bearer bad-one", "Bearer good-one"}, ""},
		"is renewed once":             {"/agents/key", vault{value: "bad-one", next: "bad-two"}, []string{"Bearer bad-one", "Bearer bad-two"}, "agent_refused"},
		"is not sent again unchanged": {"/agents/key", vault{value: "bad-one", next: "bad-one"}, []string{"Bearer bad-one"}, "agent_refused"},
		"is missing":                  {"/agents/other", vault{}, nil, "agent_secret"},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = append(sent, r.Header.Get("Authorization"))
				w.Header().Set("Content-Type", "application/json")
				if !strings.Contains(r.Header.Get("Authorization"), "good") {
					w.WriteHeader(http.StatusUnauthorized)
					_, _ = io.WriteString(w, `"no: `+r.Header.Get("Authorization")+`"`)
				}
				_, _ = io.WriteString(w, "{}")
			}))
			t.Cleanup(server.Close)
			e := endpoint.New(agentconfig.Endpoint{
				URL: server.URL, Secrets: &test.vault,
				Kept: map[string]agentconfig.Kept{"Authorization": {Prefix: "Bearer ", Name: test.parameter}},
			})
			err := e.Ask(t.Context(), []byte("{}"), nil, func(io.Reader) error { return nil })
			code := ""
			var failed *endpoint.Error
			if errors.As(err, &failed) {
				code = failed.Code
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.sent, sent) + cmp.Diff(test.code, code); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err != nil && strings.Contains(err.Error(), "bad-") {
				t.Errorf("the error has the secret: %v", err)
			}
			if code == "agent_secret" && strings.Contains(failed.Message, "/agents/") {
				t.Errorf("the message names the parameter: %s", failed.Message)
			}
		})
	}
}
