package boot_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/identity"
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/client/tokens"
)

// authorizer is the function with its own issuer and its log.
type authorizer struct {
	authorize boot.AuthorizerHandler
	issuer    *identity.Issuer
	log       bytes.Buffer
	down      bool
}

func TestAuthorizer(t *testing.T) {
	for file, stage := range map[string]string{
		"authorizer-websocket.json": "arn:aws:execute-api:eu-central-1:123456789012:abcdef1234/live/*",
		"authorizer-rest.json":      "arn:aws:execute-api:eu-central-1:123456789012:fedcba4321/live/*",
	} {
		t.Run(file+" allows the caller the whole stage", func(t *testing.T) {
			a := newAuthorizer(t)
			end := time.Now().Add(time.Hour)
			answer, err := a.authorize(t.Context(), mustEvent(t, file, a.mustToken(t, time.Hour)))
			if err != nil {
				t.Fatal(err)
			}
			exp, _ := answer.Context["exp"].(string)
			if seconds, err := strconv.ParseInt(exp, 10, 64); err != nil || seconds < end.Unix() || seconds > end.Unix()+60 {
				t.Errorf("exp is %q, want about %d", exp, end.Unix())
			}
			delete(answer.Context, "exp")
			want := events.APIGatewayCustomAuthorizerResponse{
				PrincipalID: "alice",
				PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
					Version: "2012-10-17",
					Statement: []events.IAMPolicyStatement{
						{Effect: "Allow", Action: []string{"execute-api:Invoke"}, Resource: []string{stage}},
					},
				},
				Context: map[string]any{"sub": "alice"},
			}
			if diff := cmp.Diff(want, answer); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
		t.Run(file+" rejects an expired token, and logs the reason", func(t *testing.T) {
			a := newAuthorizer(t)
			token := a.mustToken(t, -time.Minute)
			wantRefused(t, a, mustEvent(t, file, token))
			if log := a.log.String(); !strings.Contains(log, "expired") || strings.Contains(log, token) {
				t.Errorf("the log: %s", log)
			}
		})
		t.Run(file+" fails while the issuer is down", func(t *testing.T) {
			a := newAuthorizer(t)
			a.down = true
			_, err := a.authorize(t.Context(), mustEvent(t, file, a.mustToken(t, 0)))
			if err == nil || err.Error() == "Unauthorized" {
				t.Errorf("error %v, want one that the gateway answers 500", err)
			}
		})
	}
	t.Run("accepts a token in the query", func(t *testing.T) {
		a := newAuthorizer(t)
		for _, name := range []string{"token", "access_token"} {
			event := bareEvent()
			event.QueryStringParameters = map[string]string{name: a.mustToken(t, 0)}
			if _, err := a.authorize(t.Context(), event); err != nil {
				t.Error(err)
			}
			event.MultiValueQueryStringParameters = map[string][]string{name: {a.mustToken(t, 0), a.mustToken(t, 0)}}
			wantRefused(t, a, event)
		}
	})
	t.Run("reads an event with only single values", func(t *testing.T) {
		a := newAuthorizer(t)
		event := bareEvent()
		event.Headers = map[string]string{"sec-websocket-protocol": "bearer." + a.mustToken(t, 0)}
		if _, err := a.authorize(t.Context(), event); err != nil {
			t.Error(err)
		}
	})
	t.Run("rejects a user id that is too long", func(t *testing.T) {
		a := newAuthorizer(t)
		for name, allowed := range map[string]bool{
			strings.Repeat("ü", 256): true, strings.Repeat("x", 257): false, strings.Repeat("😀", 193): false,
		} {
			for _, file := range []string{"authorizer-websocket.json", "authorizer-rest.json"} {
				token, err := a.issuer.Token(name, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				if !allowed {
					wantRefused(t, a, mustEvent(t, file, token))
				} else if _, err := a.authorize(t.Context(), mustEvent(t, file, token)); err != nil {
					t.Error(err)
				}
			}
		}
		if log := a.log.String(); !strings.Contains(log, "its sub is not a possible user id") || strings.Contains(log, "xxxx") {
			t.Errorf("the log: %s", log)
		}
	})
	t.Run("rejects a request without a token", func(t *testing.T) { wantRefused(t, newAuthorizer(t), bareEvent()) })
	t.Run("rejects tokens in two places", func(t *testing.T) {
		a := newAuthorizer(t)
		event := mustEvent(t, "authorizer-rest.json", a.mustToken(t, 0))
		event.MultiValueQueryStringParameters["token"] = []string{a.mustToken(t, 0)}
		wantRefused(t, a, event)
	})
	t.Run("fails for an event without an API", func(t *testing.T) {
		a := newAuthorizer(t)
		for _, arn := range []string{"", "arn:aws:execute-api:eu-central-1:1:api", "api/live/$connect"} {
			event := mustEvent(t, "authorizer-rest.json", a.mustToken(t, 0))
			event.MethodArn = arn
			if answer, err := a.authorize(t.Context(), event); err == nil || err.Error() == "Unauthorized" {
				t.Errorf("%q: %+v %v", arn, answer, err)
			}
		}
	})
}

func newAuthorizer(t *testing.T) *authorizer {
	t.Helper()
	a := &authorizer{}
	var serve http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if a.down {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		serve.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	issuer, err := identity.New(server.URL+"/dev", "rethread", "", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a.issuer, serve = issuer, issuer.Handler("/dev")
	log := slog.New(slog.NewJSONHandler(&a.log, nil))
	verifier, err := tokens.New(tokens.Config{
		Issuer: server.URL + "/dev", Audiences: []string{"rethread"}, Client: server.Client(), Now: time.Now, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	a.authorize = boot.Authorizer(verifier, boot.NewIdentities(), log)
	return a
}

func (a *authorizer) mustToken(t *testing.T, life time.Duration) string {
	t.Helper()
	token, err := a.issuer.Token("alice", life)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// mustEvent reads an event of API Gateway and replaces its placeholder by the token.
func mustEvent(t *testing.T, file, token string) events.APIGatewayCustomAuthorizerRequestTypeRequest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var event events.APIGatewayCustomAuthorizerRequestTypeRequest
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("{{token}}"), []byte(token)), &event); err != nil {
		t.Fatal(err)
	}
	return event
}

func bareEvent() events.APIGatewayCustomAuthorizerRequestTypeRequest {
	return events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Type: "REQUEST", MethodArn: "arn:aws:execute-api:eu-central-1:123456789012:abcdef1234/live/$connect",
	}
}

func wantRefused(t *testing.T, a *authorizer, event events.APIGatewayCustomAuthorizerRequestTypeRequest) {
	t.Helper()
	if answer, err := a.authorize(t.Context(), event); err == nil || err.Error() != "Unauthorized" {
		t.Errorf("%+v %v, want Unauthorized", answer, err)
	}
}
