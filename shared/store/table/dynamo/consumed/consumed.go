// Package consumed reads the capacity units that a request consumed from the
// outputs of the SDK's operations. The engine requests them with each call.
package consumed

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Units returns the units that an output reports; 0 if it reports none.
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
