package sessions_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/rethread/rethread/shared/base/fault"
)

// refusing answers every try of an operation with an error, as often as there
// are refusals left.
func refusing(operation string, left *atomic.Int64, err error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Refuse", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			if middleware.GetOperationName(ctx) == operation && left.Add(-1) >= 0 {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, err
			}
			return next.HandleFinalize(ctx, in)
		}), "Retry", middleware.After)
	}
}

// cancelled is what DynamoDB says of a transaction, with a code for each write.
func cancelled(codes ...string) error {
	var err types.TransactionCanceledException
	for _, code := range codes {
		err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: &code})
	}
	return &err
}

func TestThrottled(t *testing.T) {
	t.Parallel()
	t.Run("a transaction is repeated until there is capacity", func(t *testing.T) {
		t.Parallel()
		var left atomic.Int64
		s := faultyStore(t, refusing("TransactWriteItems", &left, cancelled("None", "ThrottlingError")))
		mustCreate(t, s, alice, "s", nil)
		left.Store(3)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		if n := left.Load(); n >= 0 {
			t.Errorf("%d of the refusals were not met", n)
		}
		if got := mustThread(t, s, "s"); len(got.Items) != 1 {
			t.Errorf("the thread is %q, want the input once", shown(got))
		}
	})
	t.Run("the caller hears of it while there is time", func(t *testing.T) {
		t.Parallel()
		var left atomic.Int64
		s := faultyStore(t, refusing("TransactWriteItems", &left, cancelled("None", "ThrottlingError")))
		mustCreate(t, s, alice, "s", nil)
		left.Store(1 << 40)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := s.Start(ctx, startOf(t, "s", "r", "hi"))
		mustBeBusy(t, err)
		if ctx.Err() != nil {
			t.Error("it was told too late")
		}
		left.Store(0)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
	})
	t.Run("any other request is tried by the SDK, and then refused", func(t *testing.T) {
		t.Parallel()
		var left atomic.Int64
		s := faultyStore(t, refusing("GetItem", &left, &types.ProvisionedThroughputExceededException{}))
		mustCreate(t, s, alice, "s", nil)
		left.Store(1 << 40)
		_, err := s.Run(t.Context(), refOf("s", "r"))
		mustBeBusy(t, err)
		var cause *types.ProvisionedThroughputExceededException
		if !errors.As(err, &cause) {
			t.Errorf("%v hides why", err)
		}
		left.Store(5) // within what the SDK tries by itself
		if r, err := s.Run(t.Context(), refOf("s", "r")); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// mustBeBusy checks that an error sends the caller away for now, and returns what
// else it tells.
func mustBeBusy(t *testing.T, err error) map[string]any {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Busy || f.RetryAfter <= 0 {
		t.Fatalf("%v, want fault.Busy with a time to come again", err)
	}
	return f.Extra
}
