package capacity

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// unitBytes is what one write unit pays for.
const unitBytes = 1024

// transactionUnits is what AWS charges for a transaction: two units a started
// kilobyte of each item, and one more for a put into the index. DynamoDB Local
// reports two units for any transaction, so it is reckoned from the request.
// An update or deletion does not say how large its item is: it counts as one
// of up to a kilobyte, which headers are.
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

// sizeOf is the size of a value by DynamoDB's rules, for the types that the
// store uses; a number counts about a byte for two digits.
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
