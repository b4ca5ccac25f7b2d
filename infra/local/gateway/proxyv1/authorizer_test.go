package proxyv1_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
	"github.com/rethread/rethread/infra/local/lambda"
)

const arn = "arn:aws:execute-api:eu-west-1:123:Api/live/GET/a/b"

// fixedAnswer is an authorizer function that returns a fixed result.
type fixedAnswer struct{ result lambda.Result }

// Invoke implements proxyv1.Invoker.
func (s fixedAnswer) Invoke(context.Context, string, []byte) (*lambda.Result, error) {
	return &s.result, nil
}

func answer(text string) fixedAnswer { return fixedAnswer{lambda.Result{Payload: []byte(text)}} }

func statements(text string) fixedAnswer {
	return answer(`{"principalId":"p","policyDocument":{"Version":"2012-10-17","Statement":` + text + `}}`)
}

func TestPolicy(t *testing.T) {
	const allowAll = `{"Effect":"Allow","Action":"*","Resource":"*"}`
	for _, test := range []struct {
		name, statements string
		want             error
	}{
		{"accepts a single statement", allowAll, nil},
		{"accepts a list of statements", "[" + allowAll + "]", nil},
		{"ignores the case of actions", `{"Effect":"Allow","Action":["EXECUTE-API:invoke"],"Resource":["*"]}`, nil},
		{"* matches slashes", `{"Effect":"Allow","Action":"execute-api:*","Resource":"arn:aws:execute-api:*:Api/live/*/b"}`, nil},
		{"? matches one character", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:execute-api:eu-west-?:123:Api/live/GET/a/?"}`, nil},
		{"matches an exact ARN", `{"Effect":"Allow","Action":"*","Resource":"` + arn + `"}`, nil},
		{"does not match a prefix", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:execute-api:eu-west-1:123:Api/live/GET/a"}`, proxyv1.ErrDenied},
		{"does not match another action", `{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}`, proxyv1.ErrDenied},
		{"Deny overrides Allow", "[" + allowAll + `,{"Effect":"Deny","Action":"*","Resource":"*/GET/a/*"}]`, proxyv1.ErrExplicitlyDenied},
		{"ignores Deny for another resource", `[{"Effect":"Deny","Action":"*","Resource":"*/POST/*"},` + allowAll + "]", nil},
		{"refuses a policy without statements", `[]`, proxyv1.ErrAuthorizer},
		{"refuses an unknown effect", `{"Effect":"Maybe","Action":"*","Resource":"*"}`, proxyv1.ErrAuthorizer},
		{"refuses a condition", `{"Effect":"Allow","Action":"*","Resource":"*","Condition":{}}`, proxyv1.ErrAuthorizer},
		{"refuses a statement without a resource", `{"Effect":"Allow","Action":"*"}`, proxyv1.ErrAuthorizer},
		{"refuses a statement that is not an object", `"*"`, proxyv1.ErrAuthorizer},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := authorize(t, statements(test.statements), nil, "/"); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestAuthorize(t *testing.T) {
	allow := `"policyDocument":{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	t.Run("converts the context to strings", func(t *testing.T) {
		got, err := authorize(t, answer(`{"principalId":"p","context":{"s":"x","n":12345678901,"f":0.5,"b":false},`+allow+`}`), nil, "/")
		if err != nil {
			t.Fatal(err)
		}
		delete(got, "integrationLatency")
		want := map[string]any{"principalId": "p", "s": "x", "n": "12345678901", "f": "0.5", "b": "false"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	for name, function := range map[string]fixedAnswer{
		"an object in the context": answer(`{"principalId":"p","context":{"o":{}},` + allow + `}`),
		"no principal":             answer(`{` + allow + `}`),
		"invalid JSON":             answer(`oh`),
		"a failure":                {lambda.Result{FunctionError: "Unhandled", Payload: []byte(`{"errorMessage":"Unauthorized to fail"}`)}},
	} {
		t.Run(name+" is an authorizer error", func(t *testing.T) {
			if _, err := authorize(t, function, nil, "/"); !errors.Is(err, proxyv1.ErrAuthorizer) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("requires every identity source", func(t *testing.T) {
		sources := []string{"method.request.header.X-A", "route.request.querystring.b"}
		function := statements(`{"Effect":"Allow","Action":"*","Resource":"*"}`)
		for target, want := range map[string]error{"/": proxyv1.ErrUnauthorized, "/?b=": proxyv1.ErrUnauthorized, "/?b=1": nil} {
			if _, err := authorize(t, function, sources, target); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", target, err, want)
			}
		}
	})
	t.Run("refuses other kinds of sources", func(t *testing.T) {
		for _, source := range []string{"stageVariables.a", "context.identity.sourceIp", "method.request.header."} {
			if err := (&proxyv1.Authorizer{Identity: []string{source}}).Check(); err == nil {
				t.Errorf("%s was accepted", source)
			}
		}
	})
	for err, want := range map[error]int{
		proxyv1.ErrUnauthorized: 401, proxyv1.ErrDenied: 403, proxyv1.ErrExplicitlyDenied: 403, proxyv1.ErrAuthorizer: 500,
	} {
		if status, _ := proxyv1.Status(err); status != want {
			t.Errorf("%v: %d", err, status)
		}
	}
}

// authorize invokes the authorizer for a request with a header X-A.
func authorize(t *testing.T, function fixedAnswer, sources []string, target string) (map[string]any, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	r.Header.Set("X-A", "a")
	authorizer := proxyv1.Authorizer{Function: "F", Identity: sources, Invoker: function}
	return authorizer.Authorize(t.Context(), r, arn, struct{}{})
}
