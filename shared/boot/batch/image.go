package batch

import (
	"errors"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var errAttribute = errors.New("an attribute of an unknown type")

// image converts an item to the store's form, nil for none.
func image(item map[string]events.DynamoDBAttributeValue) (map[string]types.AttributeValue, error) {
	if item == nil {
		return nil, nil
	}
	out := make(map[string]types.AttributeValue, len(item))
	for name, value := range item {
		var err error
		if out[name], err = attribute(value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func attribute(v events.DynamoDBAttributeValue) (types.AttributeValue, error) {
	switch v.DataType() {
	case events.DataTypeBinary:
		return &types.AttributeValueMemberB{Value: v.Binary()}, nil
	case events.DataTypeBoolean:
		return &types.AttributeValueMemberBOOL{Value: v.Boolean()}, nil
	case events.DataTypeBinarySet:
		return &types.AttributeValueMemberBS{Value: v.BinarySet()}, nil
	case events.DataTypeList:
		return list(v.List())
	case events.DataTypeMap:
		members, err := image(v.Map())
		return &types.AttributeValueMemberM{Value: members}, err
	case events.DataTypeNumber:
		return &types.AttributeValueMemberN{Value: v.Number()}, nil
	case events.DataTypeNumberSet:
		return &types.AttributeValueMemberNS{Value: v.NumberSet()}, nil
	case events.DataTypeNull:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case events.DataTypeString:
		return &types.AttributeValueMemberS{Value: v.String()}, nil
	case events.DataTypeStringSet:
		return &types.AttributeValueMemberSS{Value: v.StringSet()}, nil
	default:
		return nil, errAttribute
	}
}

func list(values []events.DynamoDBAttributeValue) (types.AttributeValue, error) {
	out := make([]types.AttributeValue, len(values))
	for i, v := range values {
		var err error
		if out[i], err = attribute(v); err != nil {
			return nil, err
		}
	}
	return &types.AttributeValueMemberL{Value: out}, nil
}
