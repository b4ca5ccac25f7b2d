package table

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The names of the table's keys.
const (
	PK = "PK"
	SK = "SK"
)

// Item is an item as a map from member names to values. Values have the SDK's
// types, which are plain data.
type Item = map[string]types.AttributeValue

// Encode encodes a struct with `dynamodbav` tags, or an Item, as an item.
func Encode(record any) (Item, error) {
	if item, ok := record.(Item); ok {
		return item, nil
	}
	item, err := attributevalue.MarshalMap(record)
	if err != nil {
		return nil, fmt.Errorf("%w: encode %T: %w", ErrInvalid, record, err)
	}
	return item, nil
}

// EncodeValue encodes a Go value, or one of the SDK's types, as the value of a
// member.
func EncodeValue(v any) (types.AttributeValue, error) {
	if already, ok := v.(types.AttributeValue); ok {
		return already, nil
	}
	out, err := attributevalue.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: encode %T: %w", ErrInvalid, v, err)
	}
	return out, nil
}

// Decode decodes an item into a struct; ErrUnreadable if it has another form.
func Decode(item Item, into any) error {
	if err := attributevalue.UnmarshalMap(item, into); err != nil {
		return fmt.Errorf("%w: into %T: %w", ErrUnreadable, into, err)
	}
	return nil
}

// EncodeList encodes values as a list.
func EncodeList(values []any) (types.AttributeValue, error) {
	list := make([]types.AttributeValue, len(values))
	for i, v := range values {
		encoded, err := EncodeValue(v)
		if err != nil {
			return nil, err
		}
		list[i] = encoded
	}
	return &types.AttributeValueMemberL{Value: list}, nil
}

// KeyOf returns the key of an item; ErrInvalid if it has none.
func KeyOf(item Item) (Key, error) {
	pk, ok := item[PK].(*types.AttributeValueMemberS)
	sk, also := item[SK].(*types.AttributeValueMemberS)
	if !ok || !also {
		return Key{}, fmt.Errorf("%w: an item without the keys %s and %s", ErrInvalid, PK, SK)
	}
	return Key{pk.Value, sk.Value}, nil
}
