package boot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/transport/ws"
)

type line = map[string]any

// observed is an observer whose clock advances a second with each reading, and its
// output.
type observed struct {
	boot.Observer
	log, metrics bytes.Buffer
}

func newObserved() *observed {
	o, now := &observed{}, time.UnixMilli(1_700_000_000_000)
	o.Observer = boot.Observer{
		Log: logs.New(&o.log, slog.LevelInfo),
		Now: func() time.Time { now = now.Add(time.Second); return now },
		Metrics: boot.Metrics{
			Out: &o.metrics, Stack: "rethread", Function: "f",
		},
	}
	return o
}

// mustLines reads lines of JSON, without the members given.
func mustLines(t *testing.T, text *bytes.Buffer, without ...string) []line {
	t.Helper()
	var all []line
	for raw := range strings.Lines(text.String()) {
		var l line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		for _, name := range append(without, "time", "_aws", "Stack", "FunctionName") {
			delete(l, name)
		}
		all = append(all, l)
	}
	text.Reset()
	return all
}

func invoked(t *testing.T) context.Context {
	t.Helper()
	return lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "lambda-1"})
}

type httpHandler = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

func TestObserverOfRequests(t *testing.T) {
	t.Parallel()
	o := newObserved()
	var status int
	var failure error
	handle := o.Around(func(ctx context.Context, _ events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		logs.Add(ctx, slog.String(logs.RunID, "r"))
		metrics.Count(ctx, metrics.Conflicts, 2)
		return events.APIGatewayV2HTTPResponse{StatusCode: status}, failure
	}).(httpHandler)
	event := events.APIGatewayV2HTTPRequest{
		RouteKey: "POST /api/v1/sessions/{session_id}/runs", PathParameters: map[string]string{"session_id": "s"},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RequestID: "gateway-1",
			Authorizer: &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
				JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "alice"}},
			},
		},
	}
	about := line{
		"msg": "served", "request_id": "gateway-1", "route": "POST /sessions/{session_id}/runs",
		"session_id": "s", "run_id": "r", "user_id": "2bd806c97f0e00af",
	}
	for _, test := range []struct {
		name         string
		status       int
		failure      error
		level, shown any
		measured     line
	}{
		{"an answer", 202, nil, "INFO", 202.0, line{"Conflicts": 2.0, "Latency": 1000.0}},
		{"an answer that is the caller's fault", 404, nil, "INFO", 404.0, line{"Conflicts": 2.0, "Latency": 1000.0}},
		{"one that is ours", 500, nil, "WARN", 500.0, line{"Conflicts": 2.0, "Latency": 1000.0, "ServerErrors": 1.0}},
		{"none", 0, errors.New("broken"), "WARN", "failed", line{"Conflicts": 2.0, "Latency": 1000.0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, failure = test.status, test.failure
			if _, err := handle(invoked(t), event); !errors.Is(err, test.failure) {
				t.Fatal(err)
			}
			want := line{"level": test.level, "status": test.shown}
			for name, value := range about {
				want[name] = value
			}
			if diff := cmp.Diff([]line{want}, mustLines(t, &o.log, "ms")); diff != "" {
				t.Errorf("log (-want +got)\n%s", diff)
			}
			got := mustLines(t, &o.metrics, "ms", "status", "request_id", "route", "session_id", "run_id")
			if diff := cmp.Diff([]line{test.measured}, got); diff != "" {
				t.Errorf("metrics (-want +got)\n%s", diff)
			}
		})
	}
}

func TestObserverOfStreams(t *testing.T) {
	t.Parallel()
	o := newObserved()
	reader, writer := io.Pipe()
	handle := o.Around(func(context.Context, events.APIGatewayProxyRequest) (*events.APIGatewayProxyStreamingResponse, error) {
		return &events.APIGatewayProxyStreamingResponse{StatusCode: 200, Body: reader}, nil
	}).(boot.StreamHandler)
	answer, err := handle(invoked(t), events.APIGatewayProxyRequest{
		HTTPMethod: "GET", Resource: "/api/sessions/{session_id}/watch", PathParameters: map[string]string{"session_id": "s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.log.Len() != 0 {
		t.Errorf("logged before its end: %s", &o.log)
	}
	go func() {
		_, _ = writer.Write([]byte("text")) // fails if the reader is closed, which the test sees
		_ = writer.Close()                  // never fails
	}()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "text" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := answer.Body.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	want := []line{{
		"level": "INFO", "msg": "served", "request_id": "lambda-1", "route": "GET /sessions/{session_id}/watch",
		"session_id": "s", "status": 200.0, "begun_ms": 2000.0, "ms": 3000.0,
	}}
	if diff := cmp.Diff(want, mustLines(t, &o.log)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := mustLines(t, &o.metrics); len(got) != 1 || got[0]["Latency"] != 1000.0 {
		t.Errorf("metrics %v", got)
	}
}

func TestObserverOfWorkInTheBackground(t *testing.T) {
	t.Parallel()
	t.Run("a run", func(t *testing.T) {
		t.Parallel()
		o := newObserved()
		handle := o.Around(func(ctx context.Context, _ run.Ref) error {
			metrics.Count(ctx, metrics.RunsStarted, 1)
			return nil
		}).(func(context.Context, boot.Job) error)
		if err := handle(invoked(t), boot.Job{Ref: run.Ref{UserID: "alice", SessionID: "s", RunID: "r"}}); err != nil {
			t.Fatal(err)
		}
		want := []line{{
			"level": "INFO", "msg": "served", "request_id": "lambda-1", "route": "run",
			"session_id": "s", "run_id": "r", "user_id": "2bd806c97f0e00af", "ms": 1000.0, "status": "done",
		}}
		if diff := cmp.Diff(want, mustLines(t, &o.log)); diff != "" {
			t.Errorf("log (-want +got)\n%s", diff)
		}
		want = []line{{
			"RunsStarted": 1.0, "request_id": "lambda-1", "route": "run", "session_id": "s", "run_id": "r", "ms": 1000.0, "status": "done",
		}}
		if diff := cmp.Diff(want, mustLines(t, &o.metrics)); diff != "" {
			t.Errorf("metrics (-want +got)\n%s", diff)
		}
	})
	t.Run("logs a tick without work, but writes no metrics", func(t *testing.T) {
		t.Parallel()
		o := newObserved()
		handle := o.Around(func(ctx context.Context) error {
			metrics.Count(ctx, metrics.ReadUnits, 1)
			return nil
		}).(func(context.Context) error)
		if err := handle(invoked(t)); err != nil {
			t.Fatal(err)
		}
		want := []line{{"level": "INFO", "msg": "served", "request_id": "lambda-1", "route": "tick", "ms": 1000.0, "status": "done"}}
		if diff := cmp.Diff(want, mustLines(t, &o.log)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got := mustLines(t, &o.metrics); len(got) != 0 {
			t.Errorf("metrics %v", got)
		}
	})
	t.Run("combines successful batches of changes and records each failed one", func(t *testing.T) {
		t.Parallel()
		o := newObserved()
		var failure error
		handle := o.Around(func(ctx context.Context, _ events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			metrics.Count(ctx, metrics.FramesPushed, 1)
			return events.DynamoDBEventResponse{}, failure
		}).(batch.ChangesHandler)
		batches := 0
		for ; o.metrics.Len() == 0 && batches < 100; batches++ {
			if _, err := handle(invoked(t), events.DynamoDBEvent{}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]line{{"FramesPushed": float64(batches)}}, mustLines(t, &o.metrics)); diff != "" || batches < 2 {
			t.Errorf("%d batches (-want +got)\n%s", batches, diff)
		}
		if got := mustLines(t, &o.log); len(got) != 0 {
			t.Errorf("log %v", got)
		}
		failure = errors.New("broken")
		if _, err := handle(invoked(t), events.DynamoDBEvent{}); !errors.Is(err, failure) {
			t.Fatal(err)
		}
		if got := mustLines(t, &o.log); len(got) != 1 || got[0]["status"] != "failed" {
			t.Errorf("log %v", got)
		}
	})
	t.Run("does not count a rejected caller as a failure", func(t *testing.T) {
		t.Parallel()
		o := newObserved()
		handle := o.Around(boot.Authorizer(nil, boot.Identities{}, o.Log)).(boot.AuthorizerHandler)
		if _, err := handle(invoked(t), events.APIGatewayCustomAuthorizerRequestTypeRequest{}); err == nil {
			t.Fatal("a caller without a token was accepted")
		}
		got := mustLines(t, &o.log)
		if last := got[len(got)-1]; last["status"] != 401.0 || last["level"] != "INFO" || last["route"] != "$connect" {
			t.Errorf("log %v", got)
		}
	})
	t.Run("prefers the status in a frame to the gateway's", func(t *testing.T) {
		t.Parallel()
		o := newObserved()
		handle := o.Around(ws.Handler(func(ctx context.Context, _ events.APIGatewayWebsocketProxyRequest) (events.APIGatewayProxyResponse, error) {
			logs.Add(ctx, slog.String(logs.Route, "subscribe"), slog.Int(logs.Status, 500))
			return events.APIGatewayProxyResponse{StatusCode: 200}, nil
		})).(ws.Handler)
		if _, err := handle(invoked(t), events.APIGatewayWebsocketProxyRequest{}); err != nil {
			t.Fatal(err)
		}
		want := []line{{
			"level": "WARN", "msg": "served", "request_id": "lambda-1", "route": "subscribe", "status": 500.0, "ms": 2000.0,
		}}
		if diff := cmp.Diff(want, mustLines(t, &o.log)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got := mustLines(t, &o.metrics); len(got) != 1 || got[0]["ServerErrors"] != 1.0 {
			t.Errorf("metrics %v", got)
		}
	})
	t.Run("returns a handler of another type unchanged", func(t *testing.T) {
		t.Parallel()
		if got := newObserved().Around(42); got != 42 {
			t.Errorf("got %v", got)
		}
	})
}
