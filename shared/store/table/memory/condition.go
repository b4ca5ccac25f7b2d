package memory

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// holds reports whether a condition holds for an item; nil is a missing item.
func holds(c table.Condition, item table.Item) (bool, error) {
	switch c := c.(type) {
	case table.Presence:
		return (at(item, c.Path) != nil) == c.Present, nil
	case table.Comparison:
		return compares(c, item)
	case table.Containing:
		v, err := encode(c.Value)
		return err == nil && contains(at(item, c.Path), v), err
	case table.Every:
		return until(c.Of, item, false)
	case table.Any:
		return until(c.Of, item, true)
	case table.Negation:
		ok, err := holds(c.Of, item)
		return !ok, err
	}
	return false, fmt.Errorf("%w: a condition of type %T", table.ErrInvalid, c)
}

// until returns answer if a condition evaluates to it, and its opposite otherwise.
func until(of []table.Condition, item table.Item, answer bool) (bool, error) {
	for _, c := range of {
		if ok, err := holds(c, item); err != nil || ok == answer {
			return ok, err
		}
	}
	return !answer, nil
}

func encode(v any) (types.AttributeValue, error) {
	encoded, err := table.EncodeValue(v)
	if err != nil {
		return nil, err
	}
	if encoded, err = value.NormalValue(encoded); err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrInvalid, err)
	}
	return encoded, nil
}

// at returns the member that a path leads to, or nil.
func at(item table.Item, p table.Path) types.AttributeValue {
	v, ok := item[p[0]]
	for _, name := range p[1:] {
		m, isMap := v.(*types.AttributeValueMemberM)
		if !ok || !isMap {
			return nil
		}
		v, ok = m.Value[name]
	}
	return v
}

func compares(c table.Comparison, item table.Item) (bool, error) {
	v := at(item, c.Path)
	if c.Size {
		v = sizeOf(v)
	}
	with, err := encode(c.Value)
	if err != nil {
		return false, err
	}
	if c.Op == table.OpEqual || c.Op == table.OpNotEqual {
		return (v != nil && value.Equal(v, with)) == (c.Op == table.OpEqual), nil
	}
	order, ok := value.Compare(v, with)
	return ok && ordered(c.Op, order), nil
}

func ordered(op table.Operator, order int) bool {
	switch op {
	case table.OpEqual:
		return order == 0
	case table.OpNotEqual:
		return order != 0
	case table.OpLess:
		return order < 0
	case table.OpAtMost:
		return order <= 0
	case table.OpGreater:
		return order > 0
	case table.OpAtLeast:
		return order >= 0
	}
	return false
}

// sizeOf returns the size of a value that has one, or nil.
func sizeOf(v types.AttributeValue) types.AttributeValue {
	n := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		n = len(v.Value)
	case *types.AttributeValueMemberB:
		n = len(v.Value)
	case *types.AttributeValueMemberL:
		n = len(v.Value)
	case *types.AttributeValueMemberM:
		n = len(v.Value)
	case *types.AttributeValueMemberSS:
		n = len(v.Value)
	case *types.AttributeValueMemberNS:
		n = len(v.Value)
	case *types.AttributeValueMemberBS:
		n = len(v.Value)
	default:
		return nil
	}
	return &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
}

// contains reports whether a set or list contains a value, or a string contains it
// as a substring.
func contains(in, v types.AttributeValue) bool {
	if list, ok := in.(*types.AttributeValueMemberL); ok {
		return slices.ContainsFunc(list.Value, func(one types.AttributeValue) bool { return value.Equal(one, v) })
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if set, ok := in.(*types.AttributeValueMemberSS); ok {
			return slices.Contains(set.Value, v.Value)
		}
		text, ok := in.(*types.AttributeValueMemberS)
		return ok && strings.Contains(text.Value, v.Value)
	case *types.AttributeValueMemberN:
		set, ok := in.(*types.AttributeValueMemberNS)
		return ok && slices.Contains(set.Value, v.Value)
	case *types.AttributeValueMemberB:
		if set, ok := in.(*types.AttributeValueMemberBS); ok {
			return slices.ContainsFunc(set.Value, func(one []byte) bool { return bytes.Equal(one, v.Value) })
		}
		whole, ok := in.(*types.AttributeValueMemberB)
		return ok && bytes.Contains(whole.Value, v.Value)
	}
	return false
}
