package boot

import (
	"context"
	"errors"
	"log/slog"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// logThrottles is the member of a log line that counts throttled requests. A metric
// filter of template.yaml adds it up, and other lines of level ERROR count as errors.
const logThrottles = "throttles"

// ObserveRequests returns an option that adds middleware: it counts the consumed units and the
// throttles of requests if the context has a recorder, and logs what DynamoDB throttles
// or fails. DynamoDB reports consumed units for free.
func ObserveRequests(log *slog.Logger) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return errors.Join(
			stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Capacity", measureCapacity), middleware.Before),
			stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("Throttles", attempts{log}.observe), middleware.Before),
		)
	}
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
		metrics.Count(ctx, kind, consumedUnits(out.Result))
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

// consumedUnits returns the units that an operation's output reports; 0 if it reports none.
// The engine asks for them with each call.
func consumedUnits(output any) (total float64) {
	if output == nil || reflect.ValueOf(output).IsNil() {
		return 0
	}
	field := reflect.ValueOf(output).Elem().FieldByName("ConsumedCapacity")
	if !field.IsValid() {
		return 0
	}
	switch consumed := field.Interface().(type) {
	case *types.ConsumedCapacity:
		if consumed != nil {
			total = aws.ToFloat64(consumed.CapacityUnits)
		}
	case []types.ConsumedCapacity:
		for _, of := range consumed {
			total += aws.ToFloat64(of.CapacityUnits)
		}
	}
	return total
}

// attempts observes each attempt of a request, including those that the SDK retries.
type attempts struct{ log *slog.Logger }

func (a attempts) observe(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	table := awsmiddleware.GetServiceID(ctx) == dynamodb.ServiceID
	switch throttled := dynamo.Throttled(err); {
	case throttled:
		metrics.Count(ctx, metrics.Throttles, 1)
		if table { // at level ERROR, which no LOG_LEVEL leaves out
			a.log.ErrorContext(ctx, "the table throttled a request", "operation", awsmiddleware.GetOperationName(ctx), logThrottles, 1)
		}
	case table && dynamo.Failed(err):
		a.log.ErrorContext(ctx, "the table failed", "operation", awsmiddleware.GetOperationName(ctx), "error", err)
	}
	return out, metadata, err
}
