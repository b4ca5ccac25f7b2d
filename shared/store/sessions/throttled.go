package sessions

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// tellingThrottles makes fault.Busy of what DynamoDB throttled still after the
// SDK's own tries, so that the caller is told to come again.
func tellingThrottles(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("TellThrottles", tellThrottle), middleware.Before)
	})
}

func tellThrottle(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err != nil && retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err).Bool() {
		err = fmt.Errorf("%w: %w", busy("the table is busy; try again"), err)
	}
	return out, metadata, err
}
