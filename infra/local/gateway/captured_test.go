package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/rethread/rethread/infra/local/awsevents"
	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// recorded records the events that functions receive.
type recorded struct {
	gateway.Invoker
	events map[string][]byte // by function
}

func (r recorded) Invoke(ctx context.Context, name string, payload []byte) (*lambda.Result, error) {
	r.events[name] = bytes.Clone(payload)
	return r.Invoker.Invoke(ctx, name, payload)
}

// TestEventsAsCaptured compares the local events with captured events of AWS.
func TestEventsAsCaptured(t *testing.T) {
	http2 := recorded{Invoker: setup{}, events: map[string][]byte{}}
	key := oneKey{mustKey(t)}
	api, err := gateway.New(gateway.Options{
		API: samtemplate.HTTPAPI{LogicalID: "Api", Stage: "$default", JWT: map[string]samtemplate.JWTAuthorizer{"Jwt": {
			Issuer: "https://issuer.example", Audience: []string{"rethread"}, IdentitySource: "$request.header.Authorization",
		}}},
		Functions: []samtemplate.Function{{LogicalID: "Echo", Routes: []samtemplate.Route{{
			API: "Api", Method: "POST", Path: "/a/{id}", Authorizer: "Jwt", Timeout: time.Minute,
		}}}},
		Invoker: http2, Keys: key, Account: "0", Log: func(gateway.Access) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	rest := recorded{Invoker: &restFunctions{answer: *streamed(io.NopCloser(strings.NewReader("{}" + zeros)))}, events: map[string][]byte{}}
	streams := mustREST(t, restSetup{functions: &restFunctions{}, invoker: rest})
	ask := func(handler http.Handler, path string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.example:99"+path, strings.NewReader(`{"a": 1}`))
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "User-Agent": {"test"}, "Cookie": {"a=1"},
			"Authorization": {"Bearer " + mustSign(t, key, "k1", jwt.MapClaims{
				"iss": "https://issuer.example", "aud": "rethread", "sub": "alice", "exp": time.Now().Add(time.Hour).Unix(),
			})},
		}
		if recorder := serve(handler, r); recorder.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, recorder.Code, recorder.Body)
		}
	}
	ask(api, "/a/b?name=me")
	ask(streams, "/live/a2a/demo?name=me")

	free := []string{
		"headers", "multiValueHeaders", "queryStringParameters", "multiValueQueryStringParameters", "pathParameters",
		"stageVariables", "requestContext.authorizer.jwt.claims", "requestContext.authorizer",
	}
	for _, test := range []struct {
		name, captured string
		event          []byte
		shape          awsevents.Shape
		least          int
	}{
		{"event of an HTTP API", "apigw-v2-request-jwt-authorizer", http2.events["Echo"], awsevents.Shape{Free: free[:7], Absent: []string{
			"stageVariables", "requestContext.authentication", // no stage here has these
		}}, 29},
		{"event of a REST API", "apigw-request", rest.events["Watch"], awsevents.Shape{
			Free: free, Absent: []string{
				"requestContext.identity.apiKey", "requestContext.identity.apiKeyId", "requestContext.identity.clientCert",
			},
			Added: []string{"isBase64Encoded", "requestContext.identity.principalOrgId"},
		}, 38},
		{"event of a REST API's authorizer", "apigw-custom-auth-request-type-request", rest.events["Authorizer"], awsevents.Shape{
			Free: free, Absent: []string{"requestContext.identity.apiKey", "requestContext.identity.clientCert"},
			// The captured file is older than these members.
			Added: []string{
				"requestContext.domainName", "requestContext.domainPrefix", "requestContext.extendedRequestId", "requestContext.protocol",
				"requestContext.requestTime", "requestContext.requestTimeEpoch", "requestContext.identity",
			},
		}, 21},
	} {
		t.Run(test.name, func(t *testing.T) {
			same, differences, err := test.shape.Compare(test.event, awsevents.Captured(t, test.captured))
			if err != nil || len(differences) > 0 || same < test.least {
				t.Errorf("%v: %d members in common, want %d; %q in %s", err, same, test.least, differences, test.event)
			}
			t.Logf("%d members in common", same)
		})
	}
}

func TestRESTBody(t *testing.T) {
	for _, test := range []struct {
		name, kind, body, want string
	}{
		{"text is unchanged", "application/json", `{"a":"ü"}`, `{"a":"ü"}`},
		{"invalid UTF-8 is replaced", "application/octet-stream", "\x1f\x8b!", "\x1f\ufffd!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			functions := &restFunctions{answer: *streamed(io.NopCloser(strings.NewReader("{}" + zeros)))}
			g := mustREST(t, restSetup{functions: functions})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/a2a/demo", strings.NewReader(test.body))
			r.Header.Set("Content-Type", test.kind)
			serve(g, r)
			if got := functions.watched; got.Body != test.want || got.IsBase64Encoded {
				t.Errorf("got %q, base64 %t", got.Body, got.IsBase64Encoded)
			}
		})
	}
}

// TestStage calls a REST API at its own address, which has the stage in its path,
// and at a custom domain.
func TestStage(t *testing.T) {
	for path, want := range map[string]string{
		"/live" + watchPath: "/live" + watchPath, watchPath: watchPath, "/live/a2a/a%2Fb": "/live/a2a/a%2Fb",
	} {
		functions := &restFunctions{answer: *streamed(io.NopCloser(strings.NewReader("{}" + zeros)))}
		g := mustREST(t, restSetup{functions: functions})
		method := http.MethodGet
		if strings.Contains(path, "a2a") {
			method = http.MethodPost
		}
		r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		if !g.Handles(r) {
			t.Fatalf("%s has no route", path)
		}
		serve(g, r)
		if got := functions.watched; got.RequestContext.Path != want || got.Path != strings.TrimPrefix(want, "/live") {
			t.Errorf("%s: path %q in %q", path, got.Path, got.RequestContext.Path)
		}
	}
}

func TestCutPath(t *testing.T) {
	g := mustGateway(t, setup{routes: []string{"DELETE /a/{id}/b"}})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/a/x%3Fy/b", http.NoBody)
	_, got := send(t, g, r)
	if got.RawPath != "/a/x" || got.RequestContext.HTTP.Path != "/a/x" || got.PathParameters["id"] != "x?y" {
		t.Errorf("path %q and %q with %v", got.RawPath, got.RequestContext.HTTP.Path, got.PathParameters)
	}
}

func TestThrottle(t *testing.T) {
	bound := samtemplate.Throttle{Rate: 1e-9, Burst: 1}
	for name, handler := range map[string]http.Handler{
		"/a/b":      mustGateway(t, setup{routes: []string{"POST /a/{id}"}, throttle: bound}),
		"/a2a/demo": mustREST(t, restSetup{functions: &restFunctions{answer: *streamed(io.NopCloser(strings.NewReader("{}" + zeros)))}, throttle: bound}),
	} {
		for _, want := range []int{http.StatusOK, http.StatusTooManyRequests, http.StatusTooManyRequests} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, name, http.NoBody)
			got := serve(handler, r)
			body := map[string]string{}
			if got.Code != want || want != http.StatusOK && (json.Unmarshal(got.Body.Bytes(), &body) != nil || body["message"] != "Too Many Requests") {
				t.Errorf("%s: %d %s, want %d", name, got.Code, got.Body, want)
			}
		}
	}
}
