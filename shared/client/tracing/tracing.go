// Package tracing exports the work of functions as OpenTelemetry spans, over OTLP. If
// the deployer configures no receiver there is no exporter, and every span does
// nothing.
//
// Nothing is global: a span's context contains its provider, which makes the child
// spans.
package tracing

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

const (
	scope = "github.com/rethread/rethread"
	// flushTime is how long the end of an invocation waits for the receiver.
	flushTime = 2 * time.Second
)

// Tracer makes spans. The zero value makes none.
type Tracer struct{ provider *sdk.TracerProvider }

// New returns a tracer that exports to the receiver in OTEL_EXPORTER_OTLP_ENDPOINT,
// with the headers of OTEL_EXPORTER_OTLP_HEADERS; without an endpoint it exports
// nothing. OTEL_TRACES_SAMPLER selects the traces, by default all
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
func New(getenv func(string) string) (Tracer, error) {
	if getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		return Tracer{}, nil
	}
	exporter, err := newExporter(getenv)
	if err != nil {
		return Tracer{}, fmt.Errorf("export spans: %w", err)
	}
	return Tracer{sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(resource.NewSchemaless(
		semconv.ServiceName("rethread"), semconv.ServiceNamespace(getenv("STACK_NAME")),
		semconv.FaaSName(getenv("AWS_LAMBDA_FUNCTION_NAME")),
	)))}, nil
}

// Begin begins the span of an invocation. parent is the traceparent that the
// invocation has, "" for none (https://www.w3.org/TR/trace-context/).
func (t Tracer) Begin(
	ctx context.Context, kind trace.SpanKind, name, parent string, about ...attribute.KeyValue,
) (context.Context, trace.Span) {
	var provider trace.TracerProvider = noop.NewTracerProvider()
	if t.provider != nil {
		provider = t.provider
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
	}
	return provider.Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(about...))
}

// Flush exports the spans that have ended: between invocations Lambda stops the
// process, perhaps for ever.
func (t Tracer) Flush(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	return t.provider.ForceFlush(ctx)
}

// Parent returns the traceparent for work that the context's span starts elsewhere,
// "" without a trace.
func Parent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// ID returns the id of the context's trace if its spans are exported, "" otherwise.
func ID(ctx context.Context) string {
	if of := trace.SpanContextFromContext(ctx); of.IsSampled() {
		return of.TraceID().String()
	}
	return ""
}

// below begins a child span of the context's span, for a call.
func below(ctx context.Context, name string, about ...attribute.KeyValue) (context.Context, trace.Span) {
	tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer(scope)
	return tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(about...))
}

// fail marks a span as failed. kind is a class of errors, never their text, which may
// quote the conversation.
func fail(span trace.Span, kind string) {
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	span.SetStatus(codes.Error, kind)
}
