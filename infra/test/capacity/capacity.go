// Package capacity measures the capacity units of operations: it requests the
// consumed capacity of every request of a client and adds it up. Unlike time,
// capacity is exact, so costs can be tested.
package capacity

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/rethread/rethread/shared/store/table/dynamo/consumed"
)

// Usage is consumed read and write units, and the number of requests.
type Usage struct {
	Reads    float64
	Writes   float64
	Requests int
}

// Sub returns the usage since an earlier one.
func (u Usage) Sub(earlier Usage) Usage {
	return Usage{u.Reads - earlier.Reads, u.Writes - earlier.Writes, u.Requests - earlier.Requests}
}

// Meter adds up the usage of the clients that it is attached to.
type Meter struct {
	mu    sync.Mutex
	total Usage
}

// Total returns the usage so far.
func (m *Meter) Total() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}

// Attach returns a copy of the client whose requests are measured.
func (m *Meter) Attach(client *dynamodb.Client) *dynamodb.Client {
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("CapacityMeter", m.measure), middleware.Before)
		})
	})
}

func (m *Meter) measure(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	used := usageOf(in.Parameters, out.Result)
	used.Writes += failedCondition(err)
	used.Requests = 1
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total = Usage{m.total.Reads + used.Reads, m.total.Writes + used.Writes, m.total.Requests + 1}
	return out, metadata, err
}

// usageOf returns the consumed capacity of an answer. The type of unit depends on
// the operation only.
func usageOf(input, output any) Usage {
	units := consumed.Units(output)
	switch in := input.(type) {
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.QueryInput, *dynamodb.ScanInput:
		return Usage{Reads: units}
	case *dynamodb.TransactGetItemsInput:
		return Usage{Reads: 2 * units}
	case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput, *dynamodb.BatchWriteItemInput:
		return Usage{Writes: units}
	case *dynamodb.TransactWriteItemsInput:
		return Usage{Writes: transactionUnits(in)}
	default:
		panic(fmt.Sprintf("the capacity of %T is not accounted for", input))
	}
}

// failedCondition is the cost of a write whose condition failed: the answer does
// not report it, AWS charges at least one unit.
func failedCondition(err error) float64 {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return 1
	}
	return 0
}
