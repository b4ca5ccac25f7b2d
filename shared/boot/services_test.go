package boot_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/identity"
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/transport/ws"
)

// actor is a case of a request by which a service may name a user, and its caller.
type actor struct {
	scope  string   // of the token
	claims []string // names of claims with the value "yes"
	named  []string // percent-encoded
	want   access.Caller
	status int // of a refusal
}

var serviceCases = map[string]actor{ //nolint:gochecknoglobals // a table of three tests
	"a service acts for a user":                 {scope: "openid svc", named: []string{"auth0%7Calice"}, want: access.Caller{UserID: "auth0|alice", Service: "backend", ChangesApp: true}},
	"a service by its claim":                    {claims: []string{"service"}, named: []string{"alice"}, want: access.Caller{UserID: "alice", Service: "backend", ChangesApp: true}},
	"a service without the header is itself":    {scope: "svc", want: access.Caller{UserID: "backend", Service: "backend", ChangesApp: true}},
	"a service that names itself":               {scope: "svc", named: []string{"backend"}, want: access.Caller{UserID: "backend", Service: "backend", ChangesApp: true}},
	"a service is an admin for itself alone":    {scope: "svc adm", named: []string{"alice"}, want: access.Caller{UserID: "alice", Service: "backend", ChangesApp: true}},
	"a service that is an admin":                {scope: "svc adm", want: access.Caller{UserID: "backend", Service: "backend", ChangesApp: true, Admin: true}},
	"a user":                                    {scope: "openid", want: access.Caller{UserID: "backend"}},
	"a user names one":                          {scope: "openid", named: []string{"alice"}, status: 403},
	"an admin names one":                        {scope: "adm", named: []string{"alice"}, status: 403},
	"a user names themselves":                   {named: []string{"backend"}, status: 403},
	"a scope that only begins like a service's": {scope: "svc2", named: []string{"alice"}, status: 403},
	"nobody is named":                           {scope: "svc", named: []string{""}, status: 400},
	"a bad escape":                              {scope: "svc", named: []string{"%zz"}, status: 400},
	"a control character":                       {scope: "svc", named: []string{"a%0Ab"}, status: 400},
	"a name over the bound":                     {scope: "svc", named: []string{strings.Repeat("x", 257)}, status: 400},
	"two users":                                 {scope: "svc", named: []string{"alice", "bob"}, status: 400},
}

func setServices(t *testing.T) {
	t.Helper()
	t.Setenv("SERVICE_SCOPE", "svc")
	t.Setenv("SERVICE_CLAIM", "service=yes")
	t.Setenv("ADMIN_SCOPE", "adm")
}

func (a actor) token(t *testing.T, issuer *identity.Issuer) string {
	t.Helper()
	claims := map[string]any{}
	for _, name := range a.claims {
		claims[name] = "yes"
	}
	token, err := issuer.ClaimsToken("backend", a.scope, claims, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestServices_HTTP(t *testing.T) {
	setServices(t)
	issuer := newAuthorizer(t).issuer
	for name, test := range serviceCases {
		t.Run(name, func(t *testing.T) {
			token := test.token(t, issuer)
			event := captured[events.APIGatewayV2HTTPRequest](t, "apigw-v2-request-jwt-authorizer")
			event.RouteKey, event.RawPath, event.PathParameters = "GET /api/v1/sessions", "/api/v1/sessions", nil
			event.Headers = map[string]string{"authorization": "Bearer " + token}
			if test.named != nil {
				event.Headers["rethread-user"] = strings.Join(test.named, ",") // as the gateway joins them
			}
			event.RequestContext.Authorizer.JWT.Claims = map[string]string{"sub": "backend", "scope": test.scope}
			called := false
			answer, err := boot.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				called = true
				want := test.want
				want.Token = token
				if diff := cmp.Diff(want, access.CallerOf(r.Context())); diff != "" {
					t.Errorf("caller (-want +got):\n%s", diff)
				}
				w.WriteHeader(http.StatusNoContent)
			}))(t.Context(), event)
			if err != nil || called != (test.status == 0) || test.status != 0 && answer.StatusCode != test.status {
				t.Errorf("called %v, status %d, %v; want status %d", called, answer.StatusCode, err, test.status)
			}
			if test.status != 0 && !strings.Contains(answer.Body, access.UserHeader) {
				t.Errorf("the refusal does not name the header: %s", answer.Body)
			}
		})
	}
}

func TestServices_streams_and_websockets(t *testing.T) {
	setServices(t)
	a := newAuthorizer(t)

	for name, test := range serviceCases {
		for _, file := range []string{"authorizer-websocket.json", "authorizer-rest.json"} {
			t.Run(name+" "+file, func(t *testing.T) {
				event := mustEvent(t, file, test.token(t, a.issuer))
				switch {
				case test.named == nil:
				case file == "authorizer-rest.json":
					event.MultiValueHeaders["rethread-user"] = test.named
				default:
					query := event.MultiValueQueryStringParameters
					if query == nil {
						query = map[string][]string{}
					}
					for _, value := range test.named { // the gateway decodes them
						if id, err := url.PathUnescape(value); err == nil {
							query["user"] = append(query["user"], id)
						} else { // an invalid escape is no id either
							query["user"] = append(query["user"], "\xff")
						}
					}
					event.MultiValueQueryStringParameters = query
				}
				answer, err := a.authorize(t.Context(), event)
				if err != nil {
					t.Fatal(err)
				}
				texts := map[string]any{} // as they pass the gateway
				body, err := json.Marshal(answer.Context)
				if err != nil || json.Unmarshal(body, &texts) != nil {
					t.Fatal(err)
				}
				got := ws.ReadVerified(texts)
				if test.status == 0 {
					if diff := cmp.Diff(test.want, got.Caller); diff != "" || got.Refused != nil {
						t.Errorf("caller (-want +got):\n%s%v", diff, got.Refused)
					}
					return
				}
				if got.Caller.UserID != "" || got.Refused == nil {
					t.Fatalf("not refused: %+v", got)
				}
				wantRefusal(t, texts, test.status)
			})
		}
	}
}

// wantRefusal checks what a refused request is answered, by a stream and by a websocket.
func wantRefusal(t *testing.T, authorizer map[string]any, status int) {
	t.Helper()
	stream := captured[events.APIGatewayProxyRequest](t, "apigw-custom-auth-request")
	stream.Path, stream.RequestContext.Authorizer = "/api/v1/sessions/s/export", authorizer
	answer, err := boot.Streaming(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}), slog.New(slog.DiscardHandler), time.Now)(t.Context(), stream)
	if err != nil || answer.StatusCode != status {
		t.Errorf("a stream: %+v, %v, want status %d", answer, err, status)
	}
	connect := events.APIGatewayWebsocketProxyRequest{}
	connect.RequestContext.EventType, connect.RequestContext.Authorizer = "CONNECT", authorizer
	opened, err := ws.New(ws.Config{Log: slog.New(slog.DiscardHandler), Now: time.Now})(t.Context(), connect)
	if err != nil || opened.StatusCode != status {
		t.Errorf("a websocket: %+v, %v, want status %d", opened, err, status)
	}
}
