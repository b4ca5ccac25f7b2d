package boot

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"go.opentelemetry.io/otel/trace"

	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/client/tracing"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/transport/ws"
)

// Outcomes of invocations without a response.
const (
	outcomeDone   = "done"
	outcomeFailed = "failed"
)

// Observer writes a log line and a metrics line for each invocation. For batches of the
// table's changes, which occur with every piece that an agent streams, that would cost
// as much as the work itself: successful ones are logged only at level DEBUG, and share
// metrics lines.
type Observer struct {
	Log     *slog.Logger
	Now     func() time.Time
	Metrics Metrics
	Tracer  tracing.Tracer

	gathered *gathered // nil if each invocation is recorded separately
}

// serve passes invocations to a handler until Lambda stops the function.
func serve(log *slog.Logger, handler any) {
	limitMemory(os.Getenv)
	ctx := context.Background()
	tracer, err := tracing.New(os.Getenv)
	if err != nil { // a wrong configuration of tracing must not stop the system
		log.ErrorContext(ctx, "tracing is disabled", "error", err)
	}
	o := Observer{Log: log, Now: time.Now, Metrics: newMetrics(os.Stdout, os.Getenv), Tracer: tracer}
	lambda.StartWithOptions(o.Around(handler), lambda.WithContext(ctx))
}

// Around wraps a handler so that its invocations are observed. It returns a handler of
// a type that no function of this system has unchanged.
func (o Observer) Around(handler any) any {
	switch h := handler.(type) {
	case func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error):
		return around(o, aboutRequest, func(a events.APIGatewayV2HTTPResponse) any { return a.StatusCode }, h)
	case ws.Handler:
		return around(o, aboutMessage, func(a events.APIGatewayProxyResponse) any { return a.StatusCode }, h)
	case AuthorizerHandler:
		return around(o, aboutCaller, done[events.APIGatewayCustomAuthorizerResponse], h)
	case StreamHandler:
		return o.aroundStream(h)
	case batch.ChangesHandler:
		o.gathered = &gathered{}
		return around(o, aboutChanges, done[events.DynamoDBEventResponse], h)
	case PostHandler:
		return around(o, aboutPart, done[watch.Posted], h)
	case batch.DeliverHandler:
		return around(o, aboutDeliveries, done[events.SQSEventResponse], h)
	case func(context.Context, run.Ref) error:
		observed := around(o, aboutRun, done[struct{}], func(ctx context.Context, job Job) (struct{}, error) {
			return struct{}{}, h(ctx, job.Ref)
		})
		return func(ctx context.Context, job Job) error {
			_, err := observed(ctx, job)
			return err
		}
	case func(context.Context) error:
		observed := around(o, aboutTick, done[struct{}], func(ctx context.Context, _ struct{}) (struct{}, error) {
			return struct{}{}, h(ctx)
		})
		return func(ctx context.Context) error {
			_, err := observed(ctx, struct{}{})
			return err
		}
	}
	return handler
}

// around observes the invocations of one handler; about returns the subject of an
// invocation, and status the outcome of its response.
func around[In, Out any](
	o Observer, about func(In) subject, status func(Out) any, h func(context.Context, In) (Out, error),
) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		ctx, i := o.begin(ctx, about(in))
		out, err := h(ctx, in)
		i.answered(ctx, status(out))
		i.end(ctx, status(out), err)
		return out, err
	}
}

func done[Out any](Out) any { return outcomeDone }

// invocation is an invocation in progress.
type invocation struct {
	Observer
	began    time.Time
	recorder *metrics.Recorder // nil if nothing is measured
	span     trace.Span        // nil if it has none
}

// begin begins an invocation. Without an id from a gateway it gets the id of Lambda's
// own log lines.
func (o Observer) begin(ctx context.Context, about subject) (context.Context, *invocation) {
	i := &invocation{Observer: o, began: o.Now()}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		ctx = logs.With(ctx, slog.String(logs.RequestID, lc.AwsRequestID))
	}
	if i.Metrics.Out != nil {
		ctx, i.recorder = metrics.With(ctx)
	}
	if about.kind != trace.SpanKindUnspecified {
		ctx, i.span = o.Tracer.Begin(ctx, about.kind, value(about.attrs, logs.Route).String(), about.parent)
	}
	return logs.With(ctx, about.attrs...), i
}

// answered records that the response to a waiting caller is complete or begins. If
// status is not a number, no caller is waiting.
func (i *invocation) answered(ctx context.Context, status any) {
	if _, waiting := status.(int); !waiting {
		return
	}
	metrics.Took(ctx, metrics.Latency, i.Now().Sub(i.began))
	if code, _ := known(ctx, status).(int); code >= http.StatusInternalServerError {
		metrics.Count(ctx, metrics.ServerErrors, 1)
	}
}

// known returns the status of an invocation: the one in the context if the gateway gets
// another.
func known(ctx context.Context, status any) any {
	if found := value(logs.Of(ctx), logs.Status); found.Kind() == slog.KindInt64 {
		return int(found.Int64())
	}
	return status
}

// end records an invocation. A panic ends the process, which Lambda reports.
func (i *invocation) end(ctx context.Context, status any, err error) {
	switch {
	case errors.Is(err, errUnauthorized): // an authorizer's regular answer
		status, err = http.StatusUnauthorized, nil
	case err != nil:
		status = outcomeFailed
	default:
		status = known(ctx, status)
	}
	level := slog.LevelInfo
	if i.gathered != nil {
		level = slog.LevelDebug
	}
	if code, ok := status.(int); err != nil || ok && code >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	logs.Add(ctx, slog.Int64("ms", i.Now().Sub(i.began).Milliseconds()), slog.Any(logs.Status, status))
	attrs := logs.Of(ctx)
	i.Log.LogAttrs(ctx, level, "served", attrs...)
	if i.recorder != nil {
		i.tell(ctx, attrs)
	}
	if i.span != nil && i.span.IsRecording() {
		i.endSpan(ctx, attrs, level)
	}
}

// value returns the value of an attribute; the zero value if there is none.
func value(attrs []slog.Attr, key string) slog.Value {
	for _, a := range attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return slog.Value{}
}
