package gateway_test

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestEvent(t *testing.T) {
	g := mustGateway(t, setup{routes: []string{"POST /a/{id}"}})
	for _, test := range []struct {
		name   string
		header http.Header
		body   string
		want   func(*events.APIGatewayV2HTTPRequest)
	}{
		{"JSON is passed unchanged", http.Header{"Content-Type": {"application/json; charset=utf-8"}}, `{"a":"ü"}`, func(e *events.APIGatewayV2HTTPRequest) {
			e.Body = `{"a":"ü"}`
		}},
		{"an encoded body is passed in base64", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}, "{}", base64Body("{}")},
		{"an unknown content type is passed in base64", http.Header{}, "{}", base64Body("{}")},
		{"invalid UTF-8 is passed in base64", http.Header{"Content-Type": {"text/plain"}}, "\xff", base64Body("\xff")},
		{"an empty body is absent", http.Header{}, "", func(*events.APIGatewayV2HTTPRequest) {}},
		{"cookies are split and repeated headers joined", http.Header{"Cookie": {"a=1; b=2"}, "X-List": {"1", "2"}}, "", func(e *events.APIGatewayV2HTTPRequest) {
			e.Cookies = []string{"a=1", "b=2"}
			e.Headers["x-list"] = "1,2"
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.example:99/a/b%20c?q=1%202&q=3&r=%2F", strings.NewReader(test.body))
			r.Header = test.header
			_, got := send(t, g, r)
			want := events.APIGatewayV2HTTPRequest{
				Version: "2.0", RouteKey: "POST /a/{id}", RawPath: "/a/b c", RawQueryString: "q=1%202&q=3&r=%2F",
				QueryStringParameters: map[string]string{"q": "1 2,3", "r": "/"},
				PathParameters:        map[string]string{"id": "b c"},
				Headers: map[string]string{
					"host": "api.example:99", "content-length": fmt.Sprint(len(test.body)), "x-forwarded-for": "192.0.2.1",
					"x-forwarded-proto": "http", "x-forwarded-port": "99", "x-amzn-trace-id": got.Headers["x-amzn-trace-id"],
				},
			}
			for _, name := range []string{"Content-Type", "Content-Encoding"} {
				if value := test.header.Get(name); value != "" {
					want.Headers[strings.ToLower(name)] = value
				}
			}
			test.want(&want)
			want.RequestContext = got.RequestContext
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			ctx := got.RequestContext
			if ctx.HTTP.Method != "POST" || ctx.HTTP.Path != "/a/b c" || ctx.HTTP.SourceIP != "192.0.2.1" ||
				ctx.Stage != "$default" || ctx.DomainName != "api.example" || ctx.TimeEpoch == 0 || ctx.RequestID == "" {
				t.Errorf("request context: %+v", ctx)
			}
		})
	}
}

func base64Body(body string) func(*events.APIGatewayV2HTTPRequest) {
	return func(e *events.APIGatewayV2HTTPRequest) {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
	}
}

func TestAnswer(t *testing.T) {
	for _, test := range []struct {
		name, payload string
		status        int
		header        http.Header
		body          string
	}{
		{
			"structured", `{"statusCode":201,"headers":{"X-A":"b","Age":1,"Access-Control-Allow-Origin":"evil"},"cookies":["a=1","b=2"],"body":"hi"}`, 201,
			http.Header{"X-A": {"b"}, "Age": {"1"}, "Set-Cookie": {"a=1", "b=2"}, "Content-Type": {"text/plain;charset=utf-8"}, "Access-Control-Allow-Origin": nil},
			"hi",
		},
		{"base64", `{"statusCode":200,"headers":{"content-type":"image/png"},"body":"/w==","isBase64Encoded":true}`, 200, http.Header{"Content-Type": {"image/png"}}, "\xff"},
		{"a status as a string", `{"statusCode":"404","body":"gone"}`, 404, nil, "gone"},
		{"no body", `{"statusCode":204}`, 204, nil, ""},
		{"JSON without a status", `{"a":1}`, 200, http.Header{"Content-Type": {"application/json"}}, `{"a":1}`},
		{"a string without a status", `"hi"`, 200, http.Header{"Content-Type": {"application/json"}}, `"hi"`},
		{"nothing", `null`, 200, nil, `null`},
		{"an invalid status", `{"statusCode":99}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"a null status", `{"statusCode":null}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"a body that is not a string", `{"statusCode":200,"body":{}}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"broken base64", `{"statusCode":200,"body":"*","isBase64Encoded":true}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"invalid JSON", `<html>`, 500, nil, `{"message":"Internal Server Error"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := mustGateway(t, setup{routes: []string{"GET /"}, answer: &lambda.Result{Payload: []byte(test.payload)}})
			recorder := httptest.NewRecorder()
			g.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
			if recorder.Code != test.status || recorder.Body.String() != test.body {
				t.Errorf("%d %q, want %d %q", recorder.Code, recorder.Body, test.status, test.body)
			}
			for name, want := range test.header {
				if diff := cmp.Diff(want, recorder.Header()[name]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			if recorder.Header().Get("Apigw-Requestid") == "" {
				t.Error("no request id")
			}
		})
	}
}

func TestLimits(t *testing.T) {
	hang := setup{routes: []string{"POST /"}, timeout: 20 * time.Millisecond, invoke: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	for _, test := range []struct {
		name   string
		setup  setup
		body   int
		header int
		status int
		want   string
	}{
		{"a body over 10 MB", setup{}, 10<<20 + 1, 0, 413, "Request Entity Too Large"},
		{"a body that Lambda refuses", setup{fail: lambda.ErrRequestTooLarge}, 1, 0, 413, "Request Entity Too Large"},
		{"headers over 10 KB", setup{}, 0, 10240, 431, "Request Header Fields Too Large"},
		{"a timeout", hang, 0, 0, 503, "Service Unavailable"},
		{"a throttled function", setup{fail: lambda.ErrThrottled}, 0, 0, 503, "Service Unavailable"},
		{"a function that cannot run", setup{fail: lambda.ErrClosed}, 0, 0, 500, "Internal Server Error"},
		{"a function that fails", setup{answer: &lambda.Result{FunctionError: "Unhandled", Payload: []byte("{}")}}, 0, 0, 500, "Internal Server Error"},
	} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, chunked %v", test.name, chunked), func(t *testing.T) {
				test.setup.routes = []string{"POST /"}
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(strings.Repeat("x", test.body)))
				r.Header.Set("X-Fill", strings.Repeat("x", test.header))
				if chunked {
					r.ContentLength = -1
				}
				recorder := httptest.NewRecorder()
				mustGateway(t, test.setup).ServeHTTP(recorder, r)
				if want := `{"message":"` + test.want + `"}`; recorder.Code != test.status || recorder.Body.String() != want {
					t.Errorf("%d %s, want %d %s", recorder.Code, recorder.Body, test.status, want)
				}
			})
		}
	}
}

// setup is a gateway and its only function, which echoes its event by default.
type setup struct {
	routes     []string
	authorizer string
	cors       *samtemplate.CORS
	throttle   samtemplate.Throttle
	keys       gateway.Keys
	timeout    time.Duration
	answer     *lambda.Result
	fail       error
	invoke     func(context.Context) error
}

// Invoke implements gateway.Invoker.
func (s setup) Invoke(ctx context.Context, _ string, payload []byte) (*lambda.Result, error) {
	switch {
	case s.invoke != nil:
		return nil, s.invoke(ctx)
	case s.fail != nil:
		return nil, fmt.Errorf("invoke: %w", s.fail)
	case s.answer != nil:
		copied := *s.answer
		return &copied, nil
	default:
		return &lambda.Result{Payload: payload}, nil
	}
}

// Key implements gateway.Keys for gateways without authorizers.
func (s setup) Key(string, string) (crypto.PublicKey, error) { return nil, io.EOF }

func mustGateway(t *testing.T, s setup) *gateway.Gateway {
	t.Helper()
	if s.timeout == 0 {
		s.timeout = 5 * time.Minute
	}
	if s.keys == nil {
		s.keys = s
	}
	function := samtemplate.Function{LogicalID: "Echo"}
	for _, key := range s.routes {
		method, path, _ := strings.Cut(key, " ")
		function.Routes = append(function.Routes, samtemplate.Route{
			API: "Api", Method: method, Path: path, Authorizer: s.authorizer, Timeout: s.timeout,
		})
	}
	if s.cors == nil {
		s.cors = &samtemplate.CORS{AllowOrigins: []string{"https://app.example"}}
	}
	g, err := gateway.New(gateway.Options{
		API: samtemplate.HTTPAPI{
			LogicalID: "Api", Stage: "$default", CORS: s.cors, Throttle: s.throttle,
			JWT: map[string]samtemplate.JWTAuthorizer{"Jwt": {
				Issuer: "https://issuer.example", Audience: []string{"rethread"}, IdentitySource: "$request.header.Authorization",
			}},
		},
		Functions: []samtemplate.Function{function}, Invoker: s, Keys: s.keys, Account: "0", Log: func(gateway.Access) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// send returns the status and the event that the function received.
func send(t *testing.T, handler http.Handler, r *http.Request) (int, events.APIGatewayV2HTTPRequest) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	var event events.APIGatewayV2HTTPRequest
	if recorder.Code == http.StatusOK {
		if err := json.Unmarshal(recorder.Body.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
	}
	return recorder.Code, event
}
