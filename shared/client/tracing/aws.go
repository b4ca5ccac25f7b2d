package tracing

import (
	"context"
	"errors"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// AWS is an option for AWS clients: each call has a span, which includes the SDK's
// retries. Spans contain no keys or values of items.
func AWS(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Tracing", traceCall), middleware.After)
}

func traceCall(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return next.HandleInitialize(ctx, in)
	}
	method := awsmiddleware.GetServiceID(ctx) + "." + awsmiddleware.GetOperationName(ctx)
	ctx, span := below(ctx, method, semconv.RPCSystemNameKey.String("aws-api"), semconv.RPCMethod(method))
	defer span.End()
	out, metadata, err := next.HandleInitialize(ctx, in)
	if id, ok := awsmiddleware.GetRequestIDMetadata(metadata); ok {
		span.SetAttributes(semconv.AWSRequestID(id))
	}
	if err != nil {
		kind := "unanswered"
		var answered smithy.APIError
		if errors.As(err, &answered) {
			kind = answered.ErrorCode()
		}
		fail(span, kind)
	}
	return out, metadata, err
}
