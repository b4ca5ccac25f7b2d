package sessions

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Where the answer to a conditional write is lost, the SDK sends the write again,
// and its condition meets what it has written itself. Such a write has landed: it
// went out more than once, and what it was to leave is there. Transactions need
// none of this, since DynamoDB knows them again by their tokens.

// sendsKey is under what a context carries how often its request went out.
type sendsKey struct{}

// counting makes the requests of a context count how often they go out.
func counting(ctx context.Context) (context.Context, *atomic.Int64) {
	sends := new(atomic.Int64)
	return context.WithValue(ctx, sendsKey{}, sends), sends
}

// countingSends counts each time that the SDK sends a request.
func countingSends(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("CountSends", countSend), "Retry", middleware.After)
	})
}

func countSend(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	if sends, ok := ctx.Value(sendsKey{}).(*atomic.Int64); ok {
		sends.Add(1)
	}
	return next.HandleFinalize(ctx, in)
}

// decided carries out a conditional write until it is decided; old takes what is
// stored where the condition failed. landed says whether that is what the write
// was to leave.
func decided(ctx context.Context, write func(context.Context) error, landed func(attributes) bool, old any) error {
	ctx, sends := counting(ctx)
	return untilDecided(ctx, func() error {
		err := write(ctx)
		var failed *types.ConditionalCheckFailedException
		if sends.Load() > 1 && errors.As(err, &failed) && landed(failed.Item) {
			return nil
		}
		return conditionError(err, old)
	})
}

// holds reports whether an item is as a change leaves it. It knows SET of values
// and REMOVE, and of any other change that it may not have landed.
func holds(change string, c condition, item attributes) bool {
	sets, removes, _ := strings.Cut(strings.TrimPrefix(change, "SET "), " REMOVE ")
	if rest, ok := strings.CutPrefix(change, "REMOVE "); ok {
		sets, removes = "", rest
	}
	for set := range strings.SplitSeq(sets, ", ") {
		path, name, _ := strings.Cut(set, " = ")
		value, known := c.values[name]
		if set != "" && (!known || !sameValueOf(c.at(item, path), value)) {
			return false
		}
	}
	for path := range strings.SplitSeq(removes, ", ") {
		if path != "" && c.at(item, path) != nil {
			return false
		}
	}
	return item != nil
}

// at is what stands in an item at a path of an expression, nil for nothing.
func (c condition) at(item attributes, path string) types.AttributeValue {
	var found types.AttributeValue = &types.AttributeValueMemberM{Value: item}
	for step := range strings.SplitSeq(path, ".") {
		if name, ok := c.names[step]; ok {
			step = name
		}
		m, ok := found.(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		found = m.Value[step]
	}
	return found
}

func sameItem(a, b attributes) bool { return maps.EqualFunc(a, b, sameValueOf) }

func sameValueOf(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberM:
		other, ok := b.(*types.AttributeValueMemberM)
		return ok && sameItem(a.Value, other.Value)
	case *types.AttributeValueMemberL:
		other, ok := b.(*types.AttributeValueMemberL)
		return ok && slices.EqualFunc(a.Value, other.Value, sameValueOf)
	case *types.AttributeValueMemberSS: // in no order
		other, ok := b.(*types.AttributeValueMemberSS)
		return ok && slices.Equal(slices.Sorted(slices.Values(a.Value)), slices.Sorted(slices.Values(other.Value)))
	}
	return reflect.DeepEqual(a, b)
}
