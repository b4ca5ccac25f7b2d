package boot

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/store/table/dynamo/consumed"
)

// measured adds middleware that counts the consumed units and the throttles of
// requests if the context has a recorder. DynamoDB reports consumed units for free.
func measured(stack *middleware.Stack) error {
	return errors.Join(
		stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Capacity", measureCapacity), middleware.Before),
		stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("Throttles", countThrottles), middleware.Before),
	)
}

func measureCapacity(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	var kind metrics.Name
	if metrics.Recording(ctx) {
		kind = unitsOf(in.Parameters)
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	if kind != "" && err == nil {
		metrics.Count(ctx, kind, consumed.Units(out.Result))
	}
	return out, metadata, err
}

// unitsOf returns the metric of the units that a request consumes; "" for requests to
// services other than DynamoDB.
func unitsOf(input any) metrics.Name {
	switch input.(type) {
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.QueryInput:
		return metrics.ReadUnits
	case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput,
		*dynamodb.BatchWriteItemInput, *dynamodb.TransactWriteItemsInput:
		return metrics.WriteUnits
	}
	return ""
}

// countThrottles counts the throttles of each attempt of a request, including those
// that the SDK retries.
func countThrottles(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if dynamo.Throttled(err) {
		metrics.Count(ctx, metrics.Throttles, 1)
	}
	return out, metadata, err
}
