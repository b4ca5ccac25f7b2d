package boot_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	coder "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/stream"
	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/infra/local/websocket"
	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/client/connections"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/transport/sse"
	"github.com/rethread/rethread/shared/transport/ws"
)

// watched is the table, its stream, a WebSocket API and the functions between them.
type watched struct {
	store *stores.Store
	table string
	url   string
	ended chan struct{} // a message a $disconnect
	log   atomic.Value  // the session's log, once it has a message

	handle  ws.Handler
	fanout  batch.ChangesHandler
	sse     sse.Handler
	expires string
}

// Invoke is how gateway and stream reach the functions.
func (w *watched) Invoke(ctx context.Context, function string, payload []byte) (*lambda.Result, error) {
	switch function {
	case "Authorizer":
		var event events.APIGatewayCustomAuthorizerRequestTypeRequest
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, err
		}
		user := event.QueryStringParameters["token"] + strings.TrimPrefix(event.Headers["Authorization"], "Bearer ")
		return result(events.APIGatewayCustomAuthorizerResponse{
			PrincipalID: user, Context: map[string]any{"sub": user, "exp": w.expires},
			PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{
				{Effect: "Allow", Action: []string{"execute-api:Invoke"}, Resource: []string{event.MethodArn}},
			}},
		}, nil)
	case "Watch":
		var event events.APIGatewayWebsocketProxyRequest
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, err
		}
		answer, err := w.handle(ctx, event)
		if event.RequestContext.EventType == "DISCONNECT" {
			w.ended <- struct{}{}
		}
		return result(answer, err)
	default:
		var event events.DynamoDBEvent
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, err
		}
		return result(w.fanout(ctx, event))
	}
}

func result(answer any, err error) (*lambda.Result, error) {
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	return &lambda.Result{Payload: text}, err
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{ended: make(chan struct{}, 10), expires: fmt.Sprint(time.Now().Add(time.Hour).Unix())}
	log, table := slog.New(slog.DiscardHandler), dynamotest.Streamed(t)
	w.table = table
	w.store = stores.New(dynamo.New(dynamotest.Client(t), table, store.Schema()), stores.WithLogger(log))
	w.serveSockets(t)
	pusher := connections.New(aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}, strings.Replace(w.url, "ws:", "http:", 1), 0)
	w.handle = ws.New(ws.Config{
		Gate:          access.NewGate(w.store.Shares, time.Now, log),
		Subscriptions: w.store.Subscriptions, Feed: w.store.Watching, Pusher: pusher, Log: log, Now: time.Now,
	})
	w.fanout = batch.Fanout(w.news, watch.NewFanout(w.store.Subscriptions, pusher, log, time.Now), log)
	w.sse = sse.New(sse.Config{URL: w.url, Client: http.DefaultClient, Log: log, Now: time.Now})
	w.readStream(t, table)
	return w
}

func (w *watched) news(ctx context.Context, c records.Change) (watch.LogUpdate, error) {
	news, err := w.store.WatchMessages(ctx, c)
	if len(news.Messages) > 0 {
		w.log.Store(news.Log)
	}
	return news, err
}

func (w *watched) serveSockets(t *testing.T) {
	t.Helper()
	routes := map[string]samtemplate.WebSocketRoute{}
	for _, key := range []string{"$connect", "$disconnect", "$default"} {
		routes[key] = samtemplate.WebSocketRoute{Function: "Watch", Timeout: 15 * time.Minute}
	}
	api, err := websocket.New(t.Context(), websocket.Options{
		API: samtemplate.WebSocketAPI{
			LogicalID: "Socket", Stage: "live", RouteSelection: "$request.body.action", Routes: routes, Authorizer: "Authorizer",
		},
		Invoker: w, Region: "eu-west-1", Account: "123", Log: func(gateway.Access) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api)
	w.url = strings.Replace(server.URL, "http:", "ws:", 1) + "/live"
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		api.Close(ctx)
		server.Close()
	})
}

func (w *watched) readStream(t *testing.T, table string) {
	t.Helper()
	source, err := stream.New(t.Context(), stream.Options{
		Functions: []samtemplate.Function{{LogicalID: "Fanout", Timeout: 15 * time.Minute, Streams: []samtemplate.Stream{{
			Name: "Changes", Table: "Table", StartingPosition: "LATEST", BatchSize: 100, MaxRetries: 3,
			ParallelizationFactor: 4, PartialBatchResponses: true, Enabled: true,
			Filters: []string{`{"eventName":["INSERT","MODIFY"],"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"L#"}]},` +
				`"SK":{"S":[{"prefix":"E#"},{"prefix":"SG#"},"GONE"]}}}}`, `{"eventName":["REMOVE"],"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"SH#"}]}}}}`},
		}}}},
		Tables: []samtemplate.Table{{LogicalID: "Table", Name: table}},
		Open: func(ctx context.Context, table string) (stream.Log, error) {
			return reader.Open(ctx, reader.Options{
				Endpoint: dynamotest.Endpoint(t), Table: table, Region: dynamotest.Region, Account: "123", Credentials: dynamotest.Credentials(t),
			})
		},
		Invoker: w, Region: "eu-west-1", Account: "123", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- source.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// reading is a message as a watcher gets it.
type reading struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
	Reason string `json:"reason"`
	Status status `json:"status"`
}

// status is the status in an unsubscribed notice; a session's status, in contrast, is
// a word.
type status int

func (s *status) UnmarshalJSON(text []byte) error {
	*s = 0
	if n, err := strconv.Atoi(string(text)); err == nil {
		*s = status(n)
	}
	return nil
}

// until reads until that many messages of each type have arrived, in any order:
// streams keep only the order of one item's changes.
func until(t *testing.T, next func() (reading, error), types ...string) {
	t.Helper()
	for len(types) > 0 {
		m, err := next()
		if err != nil || m.Type == "error" {
			t.Fatalf("got %+v, %v, while waiting for %v", m, err, types)
		}
		if i := slices.Index(types, m.Type); i >= 0 {
			types = slices.Delete(slices.Clone(types), i, i+1)
		}
	}
}

func (w *watched) dial(t *testing.T, user string) (send func(format string, args ...any), next func() (reading, error), leave func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	conn, _, err := coder.Dial(ctx, w.url+"?token="+user, nil) //nolint:bodyclose // the library reads it whole
	if err != nil {
		t.Fatal(err)
	}
	leave = func() { _ = conn.CloseNow() } // may be closed already
	t.Cleanup(leave)
	send = func(format string, args ...any) {
		if err := conn.Write(ctx, coder.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	next = func() (reading, error) {
		var m reading
		_, text, err := conn.Read(ctx)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		return m, err
	}
	return send, next, leave
}

// openSSE reads alice's session s as server-sent events.
func (w *watched) openSSE(t *testing.T) (status int, next func() (reading, error)) {
	t.Helper()
	return w.openSSEAs(t, "alice")
}

func (w *watched) openSSEAs(t *testing.T, user string) (status int, next func() (reading, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	answer, err := w.sse(ctx, events.APIGatewayProxyRequest{
		PathParameters: map[string]string{"session_id": "s"}, Headers: map[string]string{"Authorization": "Bearer " + user},
		RequestContext: events.APIGatewayProxyRequestContext{Authorizer: map[string]any{"sub": user, "exp": w.expires}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Close() })
	body := bufio.NewReader(answer)
	return answer.StatusCode, func() (reading, error) {
		for {
			line, err := body.ReadString('\n')
			if err != nil {
				return reading{}, err
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				var m reading
				err := json.Unmarshal([]byte(data), &m)
				return m, err
			}
		}
	}
}

func mustParse(t *testing.T, text string) session.Event {
	t.Helper()
	e, err := session.ParseEvent(json.RawMessage(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return e
}
