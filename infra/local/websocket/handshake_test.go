package websocket_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/websocket"
)

func TestConnect(t *testing.T) {
	allow := func(context.Context, event) (string, error) { return policy("Allow"), nil }
	t.Run("functions receive the handshake", func(t *testing.T) {
		s := start(t, setup{authorizer: true, functions: map[string]func(context.Context, event) (string, error){"Authorizer": allow}})
		s.mustConnectRaw(t)
		asked, connected := s.mustEvent(t, "Authorizer"), s.mustEvent(t, "$connect")
		if asked.Type != "REQUEST" || asked.MethodARN != "arn:aws:execute-api:eu-west-1:123:Socket/live/$connect" {
			t.Errorf("the authorizer received %s %s", asked.Type, asked.MethodARN)
		}
		for name, e := range map[string]event{"authorizer": asked, "$connect": connected} {
			ctx := e.RequestContext
			if !regexp.MustCompile(`^[\w-]{15}=$`).MatchString(ctx.ConnectionID) || ctx.RouteKey != "$connect" ||
				ctx.EventType != "CONNECT" || ctx.MessageDirection != "IN" || ctx.Stage != "live" || ctx.APIID != "Socket" ||
				ctx.DomainName != "127.0.0.1" || ctx.ConnectedAt == 0 || ctx.RequestTimeEpoch == 0 || ctx.RequestID == "" ||
				ctx.ExtendedRequestID == "" || ctx.Identity.SourceIP != "127.0.0.1" || ctx.Identity.UserAgent != "test" {
				t.Errorf("%s: request context %+v", name, ctx)
			}
			if e.Headers["Sec-WebSocket-Version"] != "13" || e.MultiValueHeaders["X-Two"][1] != "b" || e.Headers["X-Two"] != "b" {
				t.Errorf("%s: headers %v", name, e.MultiValueHeaders)
			}
			if diff := cmp.Diff(map[string][]string{"token": {"t=", "u"}}, e.MultiValueQueryStringParameters); diff != "" {
				t.Errorf("%s: query (-want +got):\n%s", name, diff)
			}
		}
		if asked.RequestContext.ConnectionID != connected.RequestContext.ConnectionID {
			t.Error("the authorizer received another connection id")
		}
	})
	t.Run("adds the authorizer's context to every later event", func(t *testing.T) {
		s := start(t, setup{
			authorizer: true, routes: []string{"$default"},
			functions: map[string]func(context.Context, event) (string, error){"Authorizer": allow},
		})
		c := s.mustConnect(t, "/", nil)
		c.mustSend(t, "hello")
		_ = c.CloseNow()
		for _, key := range []string{"$default", "$disconnect"} {
			said := s.mustEvent(t, key).authorizer(t)
			delete(said, "integrationLatency")
			want := map[string]any{"principalId": "alice", "sub": "alice", "n": "1.5", "b": "true"}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("%s (-want +got):\n%s", key, diff)
			}
		}
	})
	t.Run("accepts / and the stage's path only", func(t *testing.T) {
		s := start(t, setup{})
		for _, path := range []string{"", "/", "/live", "/live/"} {
			s.mustConnect(t, path, nil)
		}
		if status := s.refused(t, "/other", nil); status != http.StatusForbidden {
			t.Errorf("status %d", status)
		}
	})
	t.Run("accepts the subprotocol that $connect accepts", func(t *testing.T) {
		s := start(t, setup{functions: map[string]func(context.Context, event) (string, error){
			"$connect": func(_ context.Context, e event) (string, error) {
				if e.Headers["Sec-WebSocket-Protocol"] != "rethread.v1,bearer.x" {
					return `{"statusCode":400}`, nil
				}
				return `{"statusCode":200,"headers":{"sec-websocket-protocol":"rethread.v1"}}`, nil
			},
		}})
		if c := s.mustConnect(t, "/", nil, "rethread.v1", "bearer.x"); c.Subprotocol() != "rethread.v1" {
			t.Errorf("subprotocol %q", c.Subprotocol())
		}
	})
	t.Run("returns 426 for a request that is not a handshake", func(t *testing.T) {
		resp, err := http.Get(start(t, setup{}).url) //nolint:noctx // a test's own server
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUpgradeRequired {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
}

func TestConnectRefused(t *testing.T) {
	token := http.Header{"X-Token": {"t"}}
	for _, test := range []struct {
		name       string
		authorizer string
		fail       error
		connect    string
		header     http.Header
		status     int
	}{
		{"returns 401 when an identity source is missing", policy("Allow"), nil, `{"statusCode":200}`, nil, 401},
		{"returns 401 when the authorizer fails with Unauthorized", "", &functionError{"Unauthorized"}, "", token, 401},
		{"returns 403 when a policy denies", policy("Deny"), nil, "", token, 403},
		{"returns 403 when no statement allows", `{"principalId":"a","policyDocument":{"Statement":[{"Effect":"Allow","Action":["*"],"Resource":["other"]}]}}`, nil, "", token, 403},
		{"returns 500 when the authorizer fails", "", &functionError{"oh"}, "", token, 500},
		{"returns 500 when the authorizer cannot run", "", errors.New("no room"), "", token, 500},
		{"returns 500 when the authorizer returns no policy", `{"isAuthorized":true}`, nil, "", token, 500},
		{"returns the status of $connect", policy("Allow"), nil, `{"statusCode":409}`, token, 409},
		{"returns 502 for an invalid answer of $connect", policy("Allow"), nil, `null`, token, 502},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, setup{
				authorizer: true, identity: []string{"route.request.header.X-Token"},
				functions: map[string]func(context.Context, event) (string, error){
					"Authorizer": func(context.Context, event) (string, error) { return test.authorizer, test.fail },
					"$connect":   func(context.Context, event) (string, error) { return test.connect, nil },
				},
			})
			if status := s.refused(t, "/", test.header); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
		})
	}
	t.Run("returns 504 when $connect times out", func(t *testing.T) {
		hang := func(ctx context.Context, _ event) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		s := start(t, setup{functions: map[string]func(context.Context, event) (string, error){"$connect": hang, "timeout": hang}})
		if status := s.refused(t, "/", nil); status != http.StatusGatewayTimeout {
			t.Errorf("status %d", status)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	connect := map[string]samtemplate.WebSocketRoute{"$connect": {Function: "F"}}
	for name, api := range map[string]samtemplate.WebSocketAPI{
		"a route selection that does not use the body": {RouteSelection: "$request.header.a", Routes: connect},
		"an authorizer without $connect":               {RouteSelection: "$request.body.a", Authorizer: "A"},
		"an identity source of another kind": {
			RouteSelection: "${request.body.a}", Authorizer: "A", Routes: connect, Identity: []string{"context.identity.sourceIp"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := websocket.New(t.Context(), websocket.Options{API: api, Log: func(gateway.Access) {}})
			if err == nil {
				t.Error("no error")
			}
		})
	}
}
