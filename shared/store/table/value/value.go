// Package value implements DynamoDB's rules for values: which are valid, their
// equality and order, and their sizes. The engines share it.
package value

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxDepth is how deep lists and maps may be nested, the innermost member included.
const maxDepth = 32

// Why values are refused.
var (
	errDepth     = errors.New("lists and maps stand in one another more than 32 levels deep")
	errName      = errors.New("the name of a member is empty")
	errEmptySet  = errors.New("a set is empty")
	errDuplicate = errors.New("a set has a value twice")
	errType      = errors.New("a value has no type")
	errNull      = errors.New("a null must be true")
)

// Item is an item as a map from member names to values.
type Item = map[string]types.AttributeValue

// Normal returns a deep copy of an item with normalised numbers and sorted sets, so
// that equal items have equal representations. It refuses values that no table
// accepts.
func Normal(item Item) (Item, error) { return normalMembers(item, 1) }

// NormalValue is Normal for one value.
func NormalValue(v types.AttributeValue) (types.AttributeValue, error) { return normal(v, 1) }

func normalMembers(members Item, depth int) (Item, error) {
	out := make(Item, len(members))
	for name, v := range members {
		if name == "" {
			return nil, errName
		}
		n, err := normal(v, depth)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = n
	}
	return out, nil
}

func normal(v types.AttributeValue, depth int) (types.AttributeValue, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}, nil
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}, nil
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}, nil
	case *types.AttributeValueMemberNULL:
		if !v.Value {
			return nil, errNull
		}
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case *types.AttributeValueMemberN:
		text, err := normalNumber(v.Value)
		return &types.AttributeValueMemberN{Value: text}, err
	case *types.AttributeValueMemberL:
		return normalList(v.Value, depth)
	case *types.AttributeValueMemberM:
		members, err := normalMembers(v.Value, depth+1)
		return &types.AttributeValueMemberM{Value: members}, err
	}
	return normalSet(v)
}

func normalNumber(s string) (string, error) {
	if isInteger(s) {
		return s, nil
	}
	n, err := ParseNumber(s)
	return n.String(), err
}

func normalList(values []types.AttributeValue, depth int) (types.AttributeValue, error) {
	out := make([]types.AttributeValue, len(values))
	for i, v := range values {
		n, err := normal(v, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out[i] = n
	}
	return &types.AttributeValueMemberL{Value: out}, nil
}

func normalSet(v types.AttributeValue) (types.AttributeValue, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		set, err := sorted(slices.Clone(v.Value), strings.Compare)
		return &types.AttributeValueMemberSS{Value: set}, err
	case *types.AttributeValueMemberBS:
		set, err := sorted(slices.Clone(v.Value), bytes.Compare)
		return &types.AttributeValueMemberBS{Value: set}, err
	case *types.AttributeValueMemberNS:
		set := make([]string, len(v.Value))
		for i, s := range v.Value {
			n, err := normalNumber(s)
			if err != nil {
				return nil, err
			}
			set[i] = n
		}
		set, err := sorted(set, strings.Compare)
		return &types.AttributeValueMemberNS{Value: set}, err
	}
	return nil, errType
}

func sorted[T any](set []T, compare func(a, b T) int) ([]T, error) {
	if len(set) == 0 {
		return nil, errEmptySet
	}
	slices.SortFunc(set, compare)
	if n := len(slices.CompactFunc(slices.Clone(set), func(a, b T) bool { return compare(a, b) == 0 })); n < len(set) {
		return nil, errDuplicate
	}
	return set, nil
}

// Equal reports whether two normal values are equal.
func Equal(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberL:
		b, ok := b.(*types.AttributeValueMemberL)
		return ok && slices.EqualFunc(a.Value, b.Value, Equal)
	case *types.AttributeValueMemberM:
		b, ok := b.(*types.AttributeValueMemberM)
		return ok && EqualItems(a.Value, b.Value)
	case *types.AttributeValueMemberSS:
		b, ok := b.(*types.AttributeValueMemberSS)
		return ok && slices.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberNS:
		b, ok := b.(*types.AttributeValueMemberNS)
		return ok && slices.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberBS:
		b, ok := b.(*types.AttributeValueMemberBS)
		return ok && slices.EqualFunc(a.Value, b.Value, bytes.Equal)
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return ok
	}
	order, ok := Compare(a, b)
	return ok && order == 0
}

// EqualItems reports whether two normal items are equal.
func EqualItems(a, b Item) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		if other, ok := b[name]; !ok || !Equal(v, other) {
			return false
		}
	}
	return true
}

// Compare compares two strings, two numbers or two byte strings; ok is false for
// other values.
func Compare(a, b types.AttributeValue) (order int, ok bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, ok := b.(*types.AttributeValueMemberS); ok {
			return cmp.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberB:
		if b, ok := b.(*types.AttributeValueMemberB); ok {
			return bytes.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, ok := b.(*types.AttributeValueMemberN); ok {
			return compareNumbers(a.Value, b.Value)
		}
	}
	return 0, false
}

func compareNumbers(a, b string) (int, bool) {
	if n, m, ok := integers(a, b); ok {
		return cmp.Compare(n, m), true
	}
	n, err := ParseNumber(a)
	m, also := ParseNumber(b)
	if err != nil || also != nil {
		return 0, false
	}
	return n.Compare(m), true
}
