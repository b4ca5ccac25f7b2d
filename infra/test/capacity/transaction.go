package capacity

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// unitBytes is the size that one write unit covers.
const unitBytes = 1024

// transactionUnits is AWS's charge for a transaction: two units for each started
// kilobyte of an item, and one more for a put into the index. DynamoDB Local
// reports two units for any transaction, so the charge is computed from the
// request. An update or deletion does not contain the size of its item: it counts
// as up to a kilobyte, which is true of headers.
func transactionUnits(in *dynamodb.TransactWriteItemsInput) float64 {
	total := 0.0
	for _, action := range in.TransactItems {
		if action.Put == nil {
			total += 2
			continue
		}
		size := 0
		for name, v := range action.Put.Item {
			size += len(name) + sizeOf(v)
		}
		total += 2 * float64((size+unitBytes-1)/unitBytes)
		if _, indexed := action.Put.Item["GPK"]; indexed {
			total++
		}
	}
	return total
}

// sizeOf is the size of a value by DynamoDB's rules, for the types that the store
// uses; a number counts about a byte per two digits.
func sizeOf(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	case *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		return 1
	case *types.AttributeValueMemberL:
		n := 3
		for _, item := range v.Value {
			n += 1 + sizeOf(item)
		}
		return n
	case *types.AttributeValueMemberM:
		n := 3
		for name, item := range v.Value {
			n += 1 + len(name) + sizeOf(item)
		}
		return n
	default:
		panic(fmt.Sprintf("the size of %T is not accounted for", v))
	}
}
