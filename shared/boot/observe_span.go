package boot

import (
	"context"
	"log/slog"
	"strings"

	otel "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/rethread/rethread/shared/observe/logs"
)

// endSpan ends an invocation's span with the attributes of its log line except the
// user's, and exports the trace.
func (i *invocation) endSpan(ctx context.Context, about []slog.Attr, level slog.Level) {
	for _, a := range about {
		if attr, ok := spanAttribute(a); ok {
			i.span.SetAttributes(attr)
		}
	}
	route := value(about, logs.Route).String()
	i.span.SetName(route)
	if method, path, ok := strings.Cut(route, " "); ok {
		i.span.SetAttributes(semconv.HTTPRequestMethodKey.String(method), semconv.HTTPRoute(path))
	}
	if level >= slog.LevelWarn {
		i.span.SetStatus(codes.Error, value(about, logs.Status).String())
	}
	i.span.End()
	if err := i.Tracer.Flush(ctx); err != nil {
		i.Log.WarnContext(ctx, "spans are lost", "error", err)
	}
}

// spanAttribute converts an attribute to OpenTelemetry's name for it.
func spanAttribute(a slog.Attr) (otel.KeyValue, bool) {
	switch a.Key {
	case logs.SessionID:
		return semconv.GenAIConversationID(a.Value.String()), true
	case logs.RunID:
		return otel.String("rethread.run.id", a.Value.String()), true
	case logs.RequestID:
		return otel.String("rethread.request.id", a.Value.String()), true
	case logs.Status:
		if a.Value.Kind() == slog.KindInt64 {
			return semconv.HTTPResponseStatusCode(int(a.Value.Int64())), true
		}
	}
	return otel.KeyValue{}, false
}
