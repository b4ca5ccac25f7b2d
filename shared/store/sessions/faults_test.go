package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// faultyStore is a store whose client has a middleware of the test's.
func faultyStore(t *testing.T, add func(*middleware.Stack) error) *sessions.Store {
	t.Helper()
	return faultyStoreOn(t, dynamotest.Table(t), add)
}

// faultyStoreOn is faultyStore over a table that others use, too.
func faultyStoreOn(t *testing.T, table string, add func(*middleware.Stack) error) *sessions.Store {
	t.Helper()
	client := dynamodb.New(dynamotest.Client(t).Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, add)
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 20
			o.RateLimiter = ratelimit.None
			o.Backoff = retry.NewExponentialJitterBackoff(time.Millisecond)
		})
	})
	return sessions.New(dynamo.New(client, table, store.Schema()))
}

// beforeRequests runs something before each request, which an error takes the
// place of.
func beforeRequests(do func(ctx context.Context, params any) error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("BeforeRequests", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			if err := do(ctx, in.Parameters); err != nil {
				return middleware.InitializeOutput{}, middleware.Metadata{}, err
			}
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
	}
}

// losingAnswers makes a share of the writes succeed without the client
// learning of it: the SDK's retry then meets its own write.
func losingAnswers(share float64) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("LoseAnswers", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleFinalize(ctx, in)
			lost := err == nil && rand.Float64() < share //nolint:gosec // a test
			switch middleware.GetOperationName(ctx) {
			case "PutItem", "TransactWriteItems", "UpdateItem":
				if lost {
					return out, metadata, &smithyhttp.RequestSendError{Err: errors.New("the answer was lost")}
				}
			}
			return out, metadata, err
		}), "Retry", middleware.After)
	}
}

// staleReads makes eventually consistent queries lack some of what was
// written, as a replica that lags behind does.
func staleReads(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("StaleReads", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		query, ok := in.Parameters.(*dynamodb.QueryInput)
		if err != nil || !ok || (query.ConsistentRead != nil && *query.ConsistentRead) || query.IndexName != nil {
			return out, metadata, err
		}
		result, ok := out.Result.(*dynamodb.QueryOutput)
		if !ok {
			return out, metadata, errors.New("a query without a result")
		}
		kept := result.Items[:0]
		for _, item := range result.Items {
			if rand.IntN(3) > 0 { //nolint:gosec // a test
				kept = append(kept, item)
			}
		}
		result.Items = kept
		return out, metadata, nil
	}), middleware.After)
}

// What continues in chunks stays whole when the answer to its write is lost.
func TestChunks_when_answers_are_lost(t *testing.T) {
	t.Parallel()
	s := faultyStore(t, losingAnswers(0.5))
	mustCreate(t, s, alice, "s", nil)
	for n := range 6 {
		var b strings.Builder
		for range 20_000 {
			b.WriteString(mustID(t))
		}
		mustAppend(t, s, alice, "s", event(t, "", "i", b.String()))
		mustSave(t, s, "s", "t1", fmt.Sprintf(`[{"id":"m%d","type":"user","text":%q}]`, n, b.String()))
		if _, err := s.Task(t.Context(), alice, "s", "t1"); err != nil {
			t.Errorf("the task after save %d: %v", n, err)
		}
	}
	if got := len(mustEvents(t, s, alice, "s", session.EventQuery{View: session.All})); got != 7 {
		t.Errorf("%d entries, want 7", got)
	}
}
