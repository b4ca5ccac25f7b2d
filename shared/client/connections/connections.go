// Package connections sends messages to the clients of an API Gateway WebSocket API. It is a
// package of its own, since boot holds no client of a service's protocol, and no other
// client here is linked by the same functions.
package connections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"

	"github.com/rethread/rethread/shared/domain/watch"
)

const (
	// maxAttempts is how often a lost request is sent. A message that arrives twice
	// does no harm: clients recognise it.
	maxAttempts = 3
	maxBackoff  = 200 * time.Millisecond
	// Timeout is the maximum duration of a request, including all attempts.
	Timeout = 2 * time.Second
)

// Pusher implements watch.Pusher. It is safe for concurrent use.
type Pusher struct {
	client  *apigatewaymanagementapi.Client
	timeout time.Duration
}

// New returns a pusher to the connections at an endpoint such as
// https://{api}.execute-api.{region}.amazonaws.com/{stage}. A request takes at most
// timeout, or Timeout if that is 0.
func New(cfg aws.Config, endpoint string, timeout time.Duration) *Pusher {
	if timeout == 0 {
		timeout = Timeout
	}
	client := apigatewaymanagementapi.NewFromConfig(cfg, func(o *apigatewaymanagementapi.Options) {
		o.BaseEndpoint = aws.String(endpoint)
		o.Retryer = newRetryer()
	})
	return &Pusher{client: client, timeout: timeout}
}

// newRetryer retries lost requests but not throttled ones: a caller with many
// connections can send to others first.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff = maxAttempts, maxBackoff
		throttled := retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if isThrottled(err) {
				return aws.FalseTernary
			}
			return aws.UnknownTernary
		})
		o.Retryables = append([]retry.IsErrorRetryable{throttled}, o.Retryables...)
	})
}

func isThrottled(err error) bool {
	var limit *types.LimitExceededException
	return errors.As(err, &limit) || retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err).Bool()
}

// Push implements watch.Pusher.
func (p *Pusher) Push(ctx context.Context, connectionID string, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	_, err := p.client.PostToConnection(ctx, &apigatewaymanagementapi.PostToConnectionInput{
		ConnectionId: &connectionID, Data: message,
	})
	return domainError("post to a connection", err)
}

// Close implements watch.Pusher; a connection that is gone counts as closed.
func (p *Pusher) Close(ctx context.Context, connectionID string) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	_, err := p.client.DeleteConnection(ctx, &apigatewaymanagementapi.DeleteConnectionInput{ConnectionId: &connectionID})
	if err = domainError("close a connection", err); errors.Is(err, watch.ErrGone) {
		return nil
	}
	return err
}

// domainError returns an error in the domain's terms.
func domainError(operation string, err error) error {
	var gone *types.GoneException
	switch {
	case err == nil:
		return nil
	case errors.As(err, &gone):
		return watch.ErrGone
	case isThrottled(err):
		return fmt.Errorf("%w: %w", watch.ErrThrottled, err)
	default:
		return fmt.Errorf("%s: %w", operation, err)
	}
}
