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

// measured are the options of clients whose requests are counted where somebody
// takes that: what they consume of the table, and how often AWS refuses them as
// too many. DynamoDB says what was consumed for nothing.
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

// unitsOf is which kind of units a request consumes; "" for one to another
// service than DynamoDB.
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

// countThrottles sees each try of a request, those that are repeated as well: nobody
// else counts them.
func countThrottles(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if dynamo.Throttled(err) {
		metrics.Count(ctx, metrics.Throttles, 1)
	}
	return out, metadata, err
}
