package boot

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/rethread/rethread/shared/metrics"
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
		kind = askCapacity(in.Parameters)
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	if kind != "" && err == nil {
		metrics.Count(ctx, kind, consumed(out.Result))
	}
	return out, metadata, err
}

// askCapacity asks for the capacity that a request consumes. It returns of which
// kind that is, "" for a request to another service than DynamoDB.
func askCapacity(input any) metrics.Name {
	const total = types.ReturnConsumedCapacityTotal
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = total
		return metrics.ReadUnits
	case *dynamodb.BatchGetItemInput:
		in.ReturnConsumedCapacity = total
		return metrics.ReadUnits
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = total
		return metrics.ReadUnits
	case *dynamodb.PutItemInput:
		in.ReturnConsumedCapacity = total
		return metrics.WriteUnits
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = total
		return metrics.WriteUnits
	case *dynamodb.DeleteItemInput:
		in.ReturnConsumedCapacity = total
		return metrics.WriteUnits
	case *dynamodb.BatchWriteItemInput:
		in.ReturnConsumedCapacity = total
		return metrics.WriteUnits
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = total
		return metrics.WriteUnits
	}
	return ""
}

// consumed is what an answer says of it, in capacity units.
func consumed(output any) float64 {
	switch out := output.(type) {
	case *dynamodb.GetItemOutput:
		return units(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		return unitsOfAll(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		return units(out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		return units(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		return units(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		return units(out.ConsumedCapacity)
	case *dynamodb.BatchWriteItemOutput:
		return unitsOfAll(out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		return unitsOfAll(out.ConsumedCapacity)
	}
	return 0
}

func unitsOfAll(all []types.ConsumedCapacity) float64 {
	sum := 0.0
	for i := range all {
		sum += units(&all[i])
	}
	return sum
}

func units(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return aws.ToFloat64(c.CapacityUnits)
}

// countThrottles sees each try of a request, those that the SDK repeats by
// itself as well.
func countThrottles(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if err != nil && retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err).Bool() {
		metrics.Count(ctx, metrics.Throttles, 1)
	}
	return out, metadata, err
}
