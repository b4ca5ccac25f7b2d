package boot_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/golang-jwt/jwt/v5"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/client/tokens"
	"github.com/rethread/rethread/shared/domain/access"
)

func TestAdmins(t *testing.T) {
	for name, test := range map[string]struct {
		scope, claim string // of the deployment
		token        jwt.MapClaims
		admin        bool
	}{
		"nobody by default":                 {"", "", jwt.MapClaims{"scope": "rethread:admin", "groups": []string{"support"}}, false},
		"by scope":                          {"audit", "", jwt.MapClaims{"scope": "openid audit"}, true},
		"not by another scope":              {"audit", "", jwt.MapClaims{"scope": "auditor"}, false},
		"by a member of a claim":            {"", "groups=support", jwt.MapClaims{"groups": []string{"staff", "support"}}, true},
		"by the text of a claim":            {"", "role=support", jwt.MapClaims{"role": "support"}, true},
		"by a claim that is true":           {"", "support=true", jwt.MapClaims{"support": true}, true},
		"by a value with a space":           {"", "groups=support team", jwt.MapClaims{"groups": []string{"support team"}}, true},
		"not by a part of a value":          {"", "groups=support", jwt.MapClaims{"groups": []string{"support team"}, "scope": "support"}, false},
		"not by a word of a text":           {"", "role=support", jwt.MapClaims{"role": "no support"}, false},
		"not without the claim":             {"", "groups=support", jwt.MapClaims{}, false},
		"by scope beside a claim":           {"audit", "groups=support", jwt.MapClaims{"scope": "audit"}, true},
		"by a claim beside a scope":         {"audit", "groups=support", jwt.MapClaims{"groups": []string{"support"}, "scope": "openid"}, true},
		"not by an object of the same name": {"", "groups=support", jwt.MapClaims{"groups": map[string]any{"support": true}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ADMIN_SCOPE", test.scope)
			t.Setenv("ADMIN_CLAIM", test.claim)
			token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, test.token).SignedString([]byte("any"))
			if err != nil {
				t.Fatal(err)
			}
			scope, _ := test.token["scope"].(string)
			event := captured[events.APIGatewayV2HTTPRequest](t, "apigw-v2-request-jwt-authorizer")
			event.RouteKey, event.RawPath, event.PathParameters = "GET /api/v1/sessions", "/api/v1/sessions", nil
			event.Headers = map[string]string{"authorization": "Bearer " + token}
			event.RequestContext.Authorizer.JWT.Claims = map[string]string{"sub": "eve", "scope": scope}
			called := false
			_, err = boot.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				called = true
				if got := access.CallerOf(r.Context()); got.Admin != test.admin || got.UserID != "eve" {
					t.Errorf("through the gateway's authorizer: %+v", got)
				}
				w.WriteHeader(http.StatusNoContent)
			}))(t.Context(), event)
			if err != nil || !called {
				t.Fatalf("called: %v, %v", called, err)
			}
			got, err := boot.NewIdentities().Caller(boot.Token{
				Subject: "eve", Scope: scope, Claims: func() map[string]any { return tokens.Claims(token) },
			})
			if err != nil || got.Admin != test.admin {
				t.Errorf("through the function's authorizer: %+v, %v", got, err)
			}
		})
	}
}
