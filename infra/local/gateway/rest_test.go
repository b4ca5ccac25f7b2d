package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const watchPath = "/api/v1/sessions/s%201/watch"

func TestRESTEvent(t *testing.T) {
	functions := &restFunctions{answer: *streamed(io.NopCloser(strings.NewReader("{}" + zeros)))}
	g := mustREST(t, restSetup{functions: functions})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://api.example:99"+watchPath+"?a=1&a=2%203", http.NoBody)
	r.Header = http.Header{"Last-Event-Id": {"7"}, "X-Two": {"a", "b"}, "User-Agent": {"test"}}
	if recorder := serve(g, r); recorder.Code != http.StatusOK || recorder.Header().Get("X-Amzn-Requestid") == "" {
		t.Fatalf("%d %v", recorder.Code, recorder.Header())
	}
	got := functions.watched
	want := events.APIGatewayProxyRequest{
		Resource: "/api/v1/sessions/{session_id}/watch", Path: "/api/v1/sessions/s%201/watch", HTTPMethod: "GET",
		Headers: map[string]string{
			"last-event-id": "7", "x-two": "b", "User-Agent": "test", "Host": "api.example:99", "X-Amzn-Trace-Id": got.Headers["X-Amzn-Trace-Id"],
			"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "http", "X-Forwarded-Port": "99",
		},
		QueryStringParameters:           map[string]string{"a": "2 3"},
		MultiValueQueryStringParameters: map[string][]string{"a": {"1", "2 3"}},
		PathParameters:                  map[string]string{"session_id": "s%201"},
		StageVariables:                  map[string]string{"HttpUrl": "https://http.example"},
		RequestContext:                  got.RequestContext, MultiValueHeaders: got.MultiValueHeaders,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, got.MultiValueHeaders["x-two"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ctx := got.RequestContext
	if ctx.Stage != "live" || ctx.APIID != "Stream" || ctx.AccountID != "123" || ctx.ResourcePath != want.Resource ||
		ctx.DomainName != "api.example" || ctx.Identity.SourceIP != "192.0.2.1" || ctx.Identity.UserAgent != "test" ||
		ctx.RequestID == "" || ctx.RequestTimeEpoch == 0 || ctx.Authorizer["sub"] != "alice" || ctx.Authorizer["principalId"] != "alice" {
		t.Errorf("request context: %+v", ctx)
	}
	asked := functions.asked
	if asked.Type != "REQUEST" || asked.MethodArn != "arn:aws:execute-api:eu-west-1:123:Stream/live/GET"+watchPath ||
		asked.Headers["last-event-id"] != "7" || asked.PathParameters["session_id"] != "s%201" || asked.RequestContext.Stage != "live" {
		t.Errorf("the authorizer received %+v", asked)
	}
}

func TestRESTSlash(t *testing.T) {
	g := mustREST(t, restSetup{functions: &restFunctions{answer: *streamed(io.NopCloser(strings.NewReader("{}" + zeros)))}})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, watchPath+"/", http.NoBody)
	if recorder := serve(g, r); !g.Handles(r) || recorder.Code != http.StatusOK {
		t.Errorf("status with a trailing slash: %d", recorder.Code)
	}
}

func TestRESTAnswer(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer lambda.Result
		status int
		body   string
	}{
		{"an answer that is not streamed", lambda.Result{Payload: []byte(`{"statusCode":200}`)}, 502, `{"message":"Internal server error"}`},
		{"a failure", lambda.Result{FunctionError: "Unhandled", Payload: []byte(`{}`)}, 502, `{"message":"Internal server error"}`},
		{"a stream without status and headers", *streamed(io.NopCloser(strings.NewReader("no zeros"))), 502, `{"message":"Internal server error"}`},
		{"a stream", *streamed(io.NopCloser(strings.NewReader(`{"statusCode":202,"multiValueHeaders":{"X-A":["b","c"]}}` + zeros + "body"))), 202, "body"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := mustREST(t, restSetup{functions: &restFunctions{answer: test.answer}})
			recorder := serve(g, httptest.NewRequestWithContext(t.Context(), http.MethodGet, watchPath, http.NoBody))
			if recorder.Code != test.status || recorder.Body.String() != test.body {
				t.Errorf("%d %q, want %d %q", recorder.Code, recorder.Body, test.status, test.body)
			}
			if diff := cmp.Diff([]string{"b", "c"}, recorder.Header().Values("X-A")); test.status < 500 && diff != "" {
				t.Errorf("X-A (-want +got):\n%s", diff)
			}
			if got := recorder.Header().Get("Access-Control-Allow-Origin"); (got == "*") != (test.status >= 500) {
				t.Errorf("Access-Control-Allow-Origin %q", got)
			}
		})
	}
}

func TestRESTRefuses(t *testing.T) {
	for _, test := range []struct {
		name, verdict, function string
		status                  int
	}{
		{"returns 401 for an unknown caller", `{"errorMessage":"Unauthorized"}`, "Unhandled", 401},
		{"returns 403 for a denied caller", `{"principalId":"a","policyDocument":{"Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}}`, "", 403},
		{"returns 500 when the authorizer fails", `{"errorMessage":"oh"}`, "Unhandled", 500},
	} {
		t.Run(test.name, func(t *testing.T) {
			functions := &restFunctions{verdict: lambda.Result{Payload: []byte(test.verdict), FunctionError: test.function}}
			recorder := serve(mustREST(t, restSetup{functions: functions}), httptest.NewRequestWithContext(t.Context(), http.MethodGet, watchPath, http.NoBody))
			if recorder.Code != test.status || recorder.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%d %v", recorder.Code, recorder.Header())
			}
			if got := recorder.Header().Get("WWW-Authenticate"); (got == "Bearer") != (test.status == http.StatusUnauthorized) {
				t.Errorf("%d with the challenge %q", recorder.Code, got)
			}
			if got := recorder.Body.String(); test.status == http.StatusUnauthorized && got != `{"error":{"message":"Unauthorized"}}` {
				t.Errorf("the body is %s", got)
			}
		})
	}
	t.Run("returns the configured status for an unknown path", func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/nothing", http.NoBody)
		got := serve(mustREST(t, restSetup{functions: &restFunctions{}}), r)
		if got.Code != http.StatusNotFound || got.Body.String() != `{"detail":"Missing Authentication Token"}` {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	})
	t.Run("returns 504 when the function times out", func(t *testing.T) {
		g := mustREST(t, restSetup{functions: &restFunctions{hang: true}, timeout: 10 * time.Millisecond})
		if recorder := serve(g, httptest.NewRequestWithContext(t.Context(), http.MethodGet, watchPath, http.NoBody)); recorder.Code != http.StatusGatewayTimeout {
			t.Errorf("status %d", recorder.Code)
		}
	})
}

func TestRESTTakes(t *testing.T) {
	g := mustREST(t, restSetup{functions: &restFunctions{}})
	for request, want := range map[string]bool{
		"GET " + watchPath: true, "OPTIONS " + watchPath: true, "POST " + watchPath: false, "GET /api/v1/sessions/a": false, "OPTIONS /": false,
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := g.Handles(httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)); got != want {
			t.Errorf("%s: %v", request, got)
		}
	}
	t.Run("needs no token for a preflight request", func(t *testing.T) {
		recorder := serve(g, httptest.NewRequestWithContext(t.Context(), http.MethodOptions, watchPath, http.NoBody))
		want := http.Header{
			"Access-Control-Allow-Origin": {"*"}, "Access-Control-Allow-Methods": {"GET,OPTIONS"},
			"Access-Control-Allow-Headers": {"authorization"}, "Access-Control-Max-Age": {"60"},
			"Content-Type": {"application/json"}, "X-Amzn-Requestid": recorder.Header()["X-Amzn-Requestid"],
		}
		if diff := cmp.Diff(want, recorder.Header()); diff != "" || recorder.Code != http.StatusOK {
			t.Errorf("%d (-want +got):\n%s", recorder.Code, diff)
		}
	})
}

func TestRESTStream(t *testing.T) {
	// open starts a stream over a real connection and reads its first line.
	type opened struct {
		header http.Header
		lines  *bufio.Reader
		leave  context.CancelFunc
		writer *io.PipeWriter
		closed chan struct{}
	}
	open := func(t *testing.T, s restSetup) opened {
		t.Helper()
		reader, writer := io.Pipe()
		body := &closeSignal{ReadCloser: reader, closed: make(chan struct{}, 10)}
		s.functions = &restFunctions{answer: *streamed(body)}
		server := httptest.NewServer(mustREST(t, s))
		t.Cleanup(server.Close)
		go func() {
			_, _ = io.WriteString(writer, `{"headers":{"Content-Type":"text/event-stream"}}`+zeros+"first\n")
		}()
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+watchPath, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		lines := bufio.NewReader(resp.Body)
		if line, err := lines.ReadString('\n'); line != "first\n" {
			t.Fatalf("got %q, %v", line, err)
		}
		return opened{resp.Header, lines, cancel, writer, body.closed}
	}
	t.Run("streams an answer while it is produced", func(t *testing.T) {
		stream := open(t, restSetup{})
		if stream.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("headers %v", stream.header)
		}
		go func() {
			_, _ = io.WriteString(stream.writer, "last")
			_ = stream.writer.Close()
		}()
		if rest, err := io.ReadAll(stream.lines); string(rest) != "last" || err != nil {
			t.Errorf("got %q, %v", rest, err)
		}
	})
	t.Run("a truncated answer ends with an error", func(t *testing.T) {
		stream := open(t, restSetup{})
		go func() { _ = stream.writer.CloseWithError(&lambda.StreamError{Type: "Broken", Message: "midway"}) }()
		if rest, err := io.ReadAll(stream.lines); err == nil {
			t.Errorf("it ended without an error after %q", rest)
		}
	})
	t.Run("a disconnect of the client ends a silent stream", func(t *testing.T) {
		stream := open(t, restSetup{})
		stream.leave()
		<-stream.closed
	})
	for name, s := range map[string]restSetup{
		"cuts off a stream that is silent for too long": {idle: time.Minute},
		"cuts off a stream that takes too long":         {timeout: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reader, writer := io.Pipe()
				body := &closeSignal{ReadCloser: reader, closed: make(chan struct{}, 10)}
				s.functions = &restFunctions{answer: *streamed(body)}
				go func() {
					_, _ = io.WriteString(writer, `{"headers":{"Content-Type":"text/event-stream"}}`+zeros+"first\n")
				}()
				began, recorder := time.Now(), httptest.NewRecorder()
				defer func() {
					if recover() != http.ErrAbortHandler { //nolint:errorlint // what is recovered is this value
						t.Error("it ended without an error")
					}
					if took := time.Since(began); took != time.Minute || recorder.Body.String() != "first\n" || len(body.closed) == 0 {
						t.Errorf("after %s it had %q", took, recorder.Body)
					}
				}()
				mustREST(t, s).ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, watchPath, http.NoBody))
			})
		})
	}
}

const zeros = "\x00\x00\x00\x00\x00\x00\x00\x00"

func streamed(body io.ReadCloser) *lambda.Result {
	return &lambda.Result{Stream: &lambda.Stream{ContentType: lambda.TypeHTTPStream, Body: body}}
}

// closeSignal signals when its body is closed.
type closeSignal struct {
	io.ReadCloser
	closed chan struct{}
}

func (c *closeSignal) Close() error {
	c.closed <- struct{}{}
	return c.ReadCloser.Close()
}

type restSetup struct {
	functions     *restFunctions
	timeout, idle time.Duration
	throttle      samtemplate.Throttle
	invoker       gateway.Invoker // replaces the functions
}

// restFunctions are the authorizer, which allows everything by default, and the
// function behind it.
type restFunctions struct {
	verdict, answer lambda.Result
	hang            bool

	asked   events.APIGatewayCustomAuthorizerRequestTypeRequest
	watched events.APIGatewayProxyRequest
}

// Invoke implements gateway.Invoker.
func (f *restFunctions) Invoke(ctx context.Context, name string, payload []byte) (*lambda.Result, error) {
	if name == "Authorizer" {
		if f.verdict.Payload == nil {
			f.verdict.Payload = []byte(`{"principalId":"alice","context":{"sub":"alice"},` +
				`"policyDocument":{"Statement":[{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"*/live/*"}]}}`)
		}
		return &f.verdict, json.Unmarshal(payload, &f.asked)
	}
	if f.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &f.answer, json.Unmarshal(payload, &f.watched)
}

func mustREST(t *testing.T, s restSetup) *gateway.REST {
	t.Helper()
	if s.timeout == 0 {
		s.timeout = 5 * time.Minute
	}
	if s.invoker == nil {
		s.invoker = s.functions
	}
	g, err := gateway.NewREST(gateway.RESTOptions{
		API: samtemplate.RESTAPI{
			LogicalID: "Stream", Stage: "live", Variables: map[string]string{"HttpUrl": "https://http.example"}, Throttle: s.throttle,
			CORS:   &samtemplate.RESTCORS{AllowOrigin: "*", AllowHeaders: "authorization", MaxAge: "60"},
			Lambda: map[string]samtemplate.LambdaAuthorizer{"Token": {Function: "Authorizer"}},
			Errors: map[string]samtemplate.GatewayError{
				"DEFAULT_4XX": {Headers: map[string]string{"Access-Control-Allow-Origin": "*"}},
				"DEFAULT_5XX": {Headers: map[string]string{"Access-Control-Allow-Origin": "*"}},
				"UNAUTHORIZED": {
					Headers: map[string]string{"Access-Control-Allow-Origin": "*", "WWW-Authenticate": "Bearer"},
					Body:    `{"error":{"message":$context.error.messageString}}`,
				},
				"MISSING_AUTHENTICATION_TOKEN": {
					Status: 404, Headers: map[string]string{"Access-Control-Allow-Origin": "*"}, Body: `{"detail":$context.error.messageString}`,
				},
			},
		},
		Functions: []samtemplate.Function{{LogicalID: "Watch", Routes: []samtemplate.Route{{
			API: "Stream", Method: "GET", Path: "/api/v1/sessions/{session_id}/watch", Authorizer: "Token",
			Timeout: s.timeout,
		}, {API: "Stream", Method: "POST", Path: "/a2a/{agent}", Authorizer: "Token", Timeout: s.timeout}}}},
		Invoker: s.invoker, Region: "eu-west-1", Account: "123", StreamIdle: s.idle, Log: func(gateway.Access) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func serve(handler http.Handler, r *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return recorder
}
