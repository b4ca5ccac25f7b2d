package value

import (
	"bytes"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The overhead of a list or a map, and of each of its members.
const (
	holderBytes = 3
	memberBytes = 1
)

// Size returns the size of an item in bytes: its names and its values.
func Size(item Item) int {
	n := 0
	for name, v := range item {
		n += len(name) + SizeOf(v)
	}
	return n
}

// SizeOf returns the size of a value in bytes.
func SizeOf(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberL:
		n := holderBytes
		for _, one := range v.Value {
			n += memberBytes + SizeOf(one)
		}
		return n
	case *types.AttributeValueMemberM:
		return holderBytes + memberBytes*len(v.Value) + Size(v.Value)
	case *types.AttributeValueMemberSS:
		return sum(v.Value, func(s string) int { return len(s) })
	case *types.AttributeValueMemberNS:
		return sum(v.Value, numberSize)
	case *types.AttributeValueMemberBS:
		return sum(v.Value, func(b []byte) int { return len(b) })
	}
	return 1 // a boolean or a null
}

func numberSize(s string) int {
	if isInteger(s) {
		return integerSize(s)
	}
	n, err := ParseNumber(s)
	if err != nil {
		return len(s)
	}
	return n.Size()
}

func sum[T any](values []T, size func(T) int) int {
	n := 0
	for _, v := range values {
		n += size(v)
	}
	return n
}

// Clone returns a deep copy of an item; nil for nil.
func Clone(item Item) Item {
	if item == nil {
		return nil
	}
	out := make(Item, len(item))
	for name, v := range item {
		out[name] = cloneValue(v)
	}
	return out
}

func cloneValue(v types.AttributeValue) types.AttributeValue {
	if list, ok := v.(*types.AttributeValueMemberL); ok {
		out := make([]types.AttributeValue, len(list.Value))
		for i, one := range list.Value {
			out[i] = cloneValue(one)
		}
		return &types.AttributeValueMemberL{Value: out}
	}
	if m, ok := v.(*types.AttributeValueMemberM); ok {
		return &types.AttributeValueMemberM{Value: Clone(m.Value)}
	}
	return cloneScalar(v)
}

// cloneScalar copies any value except lists and maps.
func cloneScalar(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}
	}
	out, err := normal(v, 1)
	if err != nil {
		return v // it cannot be stored, so it is not shared
	}
	return out
}
