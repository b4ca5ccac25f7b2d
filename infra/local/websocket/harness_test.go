package websocket_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/websocket"
)

const patience = 5 * time.Minute

// event is a function's event, including the members for authorizers.
type event struct {
	events.APIGatewayWebsocketProxyRequest
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`

	raw []byte
}

func (e event) authorizer(t *testing.T) map[string]any {
	t.Helper()
	said, _ := e.RequestContext.Authorizer.(map[string]any)
	return said
}

// setup is an API and the functions behind it, which return 200 by default.
type setup struct {
	routes     []string // in addition to $connect and $disconnect
	authorizer bool
	identity   []string
	limits     websocket.Limits
	stage      samtemplate.Throttle
	throttle   func(string) bool
	// functions are keyed by route key; Authorizer is the authorizer's key.
	functions map[string]func(context.Context, event) (string, error)
}

// system is a running API.
type system struct {
	url    string
	api    *websocket.API
	client *apigatewaymanagementapi.Client

	mu     sync.Mutex
	events map[string]chan event // by route key
}

func start(t *testing.T, s setup) *system {
	t.Helper()
	sys := &system{events: map[string]chan event{}}
	api := samtemplate.WebSocketAPI{
		LogicalID: "Socket", Stage: "live", RouteSelection: "$request.body.action",
		Routes: map[string]samtemplate.WebSocketRoute{}, Identity: s.identity, Throttle: s.stage,
	}
	if s.authorizer {
		api.Authorizer = "Authorizer"
	}
	timeout := patience
	if s.functions["timeout"] != nil {
		timeout = 20 * time.Millisecond
	}
	for _, key := range append([]string{"$connect", "$disconnect"}, s.routes...) {
		api.Routes[key] = samtemplate.WebSocketRoute{Function: key, Timeout: timeout}
	}
	built, err := websocket.New(t.Context(), websocket.Options{
		API: api, Invoker: invoker{s, sys}, Region: "eu-west-1", Account: "123", Limits: s.limits,
		Throttle: s.throttle, Log: func(gateway.Access) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(built)
	sys.api, sys.url = built, server.URL
	sys.client = apigatewaymanagementapi.New(apigatewaymanagementapi.Options{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		built.Close(ctx)
		if ctx.Err() != nil {
			t.Error("the API did not close in time")
		}
		server.Close()
	})
	return sys
}

// invoker runs the functions.
type invoker struct {
	setup
	*system
}

// Invoke implements proxyv1.Invoker.
func (i invoker) Invoke(ctx context.Context, name string, payload []byte) (*lambda.Result, error) {
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, err
	}
	e.raw = payload
	select {
	case i.of(name) <- e:
	default: // the channel is large enough
	}
	answer, ok := i.functions[name]
	if !ok {
		return &lambda.Result{Payload: []byte(`{"statusCode":200}`)}, nil
	}
	text, err := answer(ctx, e)
	var failed *functionError
	if errors.As(err, &failed) {
		return &lambda.Result{FunctionError: "Unhandled", Payload: []byte(`{"errorMessage":"` + failed.message + `"}`)}, nil
	}
	return &lambda.Result{Payload: []byte(text)}, err
}

// functionError is an error of a function itself.
type functionError struct{ message string }

func (f *functionError) Error() string { return f.message }

func (s *system) of(name string) chan event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events[name] == nil {
		s.events[name] = make(chan event, 100)
	}
	return s.events[name]
}

// mustEvent waits for the next event of the route.
func (s *system) mustEvent(t *testing.T, key string) event {
	t.Helper()
	select {
	case e := <-s.of(key):
		return e
	case <-time.After(patience):
		t.Fatalf("no event of %s", key)
		return event{}
	}
}

// client is a connected client.
type client struct {
	*ws.Conn
	id       string
	response *http.Response
}

func (s *system) mustConnect(t *testing.T, path string, header http.Header, protocols ...string) client {
	t.Helper()
	conn, resp, err := ws.Dial(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+path, &ws.DialOptions{
		HTTPHeader: header, Subprotocols: protocols,
	})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return client{conn, s.mustEvent(t, "$connect").RequestContext.ConnectionID, resp}
}

// refused returns the status of a refused handshake.
func (s *system) refused(t *testing.T, path string, header http.Header) int {
	t.Helper()
	conn, resp, err := ws.Dial(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+path, &ws.DialOptions{HTTPHeader: header})
	if err == nil {
		_ = conn.CloseNow()
		t.Fatal("the handshake succeeded")
	}
	if resp == nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func (c client) mustSend(t *testing.T, text string) {
	t.Helper()
	if err := c.Write(t.Context(), ws.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func (c client) mustRead(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, data, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// mustClose reads until the connection is closed and returns the close code.
func (c client) mustClose(t *testing.T) ws.StatusCode {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, _, err := c.Read(ctx); err != nil {
			if ctx.Err() != nil {
				t.Fatal("the connection stays open")
			}
			return ws.CloseStatus(err)
		}
	}
}

func (s *system) post(t *testing.T, id string, data []byte) error {
	t.Helper()
	_, err := s.client.PostToConnection(t.Context(), &apigatewaymanagementapi.PostToConnectionInput{ConnectionId: &id, Data: data})
	return err
}

// policy is an authorizer's answer for every route of the API.
func policy(effect string) string {
	return `{"principalId":"alice","policyDocument":{"Statement":[{"Effect":"` + effect +
		`","Action":"execute-api:Invoke","Resource":"arn:aws:execute-api:eu-west-1:123:Socket/live/*"}]},` +
		`"context":{"sub":"alice","n":1.5,"b":true}}`
}

// mustConnectRaw connects with various headers and a query, and leaves the events
// to the caller.
func (s *system) mustConnectRaw(t *testing.T) {
	t.Helper()
	conn, resp, err := ws.Dial(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+"/live?token=t%3D&token=u", &ws.DialOptions{
		HTTPHeader: http.Header{"X-Two": {"a", "b"}, "User-Agent": {"test"}},
	})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
}
