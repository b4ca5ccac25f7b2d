package dynamo_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// TestThrottled checks which refusals count as throttled.
func TestThrottled(t *testing.T) {
	t.Parallel()
	cancelled := func(codes ...string) error {
		whole := &types.TransactionCanceledException{}
		for _, code := range codes {
			whole.CancellationReasons = append(whole.CancellationReasons, types.CancellationReason{Code: &code})
		}
		return fmt.Errorf("transact: %w", whole)
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"success":                           {nil, false},
		"a request":                         {&types.ProvisionedThroughputExceededException{}, true},
		"a write of a transaction":          {cancelled("None", "ThrottlingError"), true},
		"a condition that does not hold":    {cancelled("None", "ConditionalCheckFailed"), false},
		"another transaction":               {cancelled("TransactionConflict"), false},
		"a connection that cannot be made":  {errors.New("dial: connection refused"), false},
		"a single write's failed condition": {&types.ConditionalCheckFailedException{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := dynamo.Throttled(c.err); got != c.want {
				t.Errorf("%v: throttled %v, want %v", c.err, got, c.want)
			}
		})
	}
}
