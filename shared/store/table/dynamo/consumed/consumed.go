// Package consumed reads what a request consumed of a table, in capacity units, out of
// the outputs of the SDK's operations. The engine asks for it with each request.
package consumed

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Units is what an answer says; 0 where it says nothing.
func Units(output any) float64 {
	if output == nil || reflect.ValueOf(output).IsNil() {
		return 0
	}
	field := reflect.ValueOf(output).Elem().FieldByName("ConsumedCapacity")
	if !field.IsValid() {
		return 0
	}
	total := 0.0
	switch consumed := field.Interface().(type) {
	case *types.ConsumedCapacity:
		total = units(consumed)
	case []types.ConsumedCapacity:
		for i := range consumed {
			total += units(&consumed[i])
		}
	}
	return total
}

func units(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return aws.ToFloat64(c.CapacityUnits)
}
