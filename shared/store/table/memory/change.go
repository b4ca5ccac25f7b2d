package memory

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// updated returns an item after an update.
func (e *Engine) updated(w table.Write, before table.Item) (table.Item, error) {
	item := value.Clone(before)
	if item == nil {
		item = table.Item{
			table.PK: &types.AttributeValueMemberS{Value: w.Key.PK},
			table.SK: &types.AttributeValueMemberS{Value: w.Key.SK},
		}
	}
	for _, c := range w.Changes {
		if err := change(item, c); err != nil {
			return nil, err
		}
	}
	if err := e.schema.ValidateIndexKeys(item); err != nil {
		return nil, err
	}
	if n := value.Size(item); n > table.MaxItemBytes {
		return nil, fmt.Errorf("%w: an item of %d bytes", table.ErrTooLarge, n)
	}
	if _, err := value.Normal(item); err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrInvalid, err)
	}
	return item, nil
}

// change carries out one change. The changes of an update do not overlap, so
// applying them one after another equals applying them at once.
func change(item table.Item, c table.Change) error {
	switch c := c.(type) {
	case table.Setting:
		return set(item, c)
	case table.Adding:
		return replace(item, c.Path, func(v types.AttributeValue) (types.AttributeValue, error) { return added(v, c.N) })
	case table.Appending:
		return replace(item, c.Path, func(v types.AttributeValue) (types.AttributeValue, error) { return appended(v, c.Values) })
	case table.SetChanging:
		return replace(item, c.Path, func(v types.AttributeValue) (types.AttributeValue, error) { return setChanged(v, c) })
	case table.Removing:
		return replace(item, c.Path, func(types.AttributeValue) (types.AttributeValue, error) { return nil, nil })
	}
	return fmt.Errorf("%w: a change of type %T", table.ErrInvalid, c)
}

func set(item table.Item, c table.Setting) error {
	return replace(item, c.Path, func(v types.AttributeValue) (types.AttributeValue, error) {
		if c.IfAbsent && v != nil {
			return v, nil
		}
		return encode(c.Value)
	})
}

// replace replaces a member by the result of by; nil removes it. The map that holds
// the member must exist.
func replace(item table.Item, p table.Path, by func(types.AttributeValue) (types.AttributeValue, error)) error {
	holder, last := item, p[len(p)-1]
	for _, name := range p[:len(p)-1] {
		m, ok := holder[name].(*types.AttributeValueMemberM)
		if !ok {
			return fmt.Errorf("%w: there is no map that holds %v", table.ErrInvalid, []string(p))
		}
		holder = m.Value
	}
	v, err := by(holder[last])
	if err != nil {
		return fmt.Errorf("%v: %w", []string(p), err)
	}
	if v == nil {
		delete(holder, last)
		return nil
	}
	holder[last] = v
	return nil
}

func wrongType(v types.AttributeValue) error {
	return fmt.Errorf("%w: the change does not fit %T", table.ErrInvalid, v)
}

func added(v types.AttributeValue, n int64) (types.AttributeValue, error) {
	text := strconv.FormatInt(n, 10)
	if v == nil {
		return encode(&types.AttributeValueMemberN{Value: text})
	}
	old, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return nil, wrongType(v)
	}
	a, err := value.ParseNumber(old.Value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrInvalid, err)
	}
	b, err := value.ParseNumber(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrInvalid, err)
	}
	sum, err := a.Plus(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrInvalid, err)
	}
	return &types.AttributeValueMemberN{Value: sum.String()}, nil
}

func appended(v types.AttributeValue, values []any) (types.AttributeValue, error) {
	list, ok := v.(*types.AttributeValueMemberL)
	if v != nil && !ok {
		return nil, wrongType(v)
	}
	more, err := table.EncodeList(values)
	if err != nil {
		return nil, err
	}
	if more, err = encode(more); err != nil {
		return nil, err
	}
	if list == nil {
		return more, nil
	}
	both := slices.Concat(list.Value, more.(*types.AttributeValueMemberL).Value)
	return &types.AttributeValueMemberL{Value: both}, nil
}

func setChanged(v types.AttributeValue, c table.SetChanging) (types.AttributeValue, error) {
	set, ok := v.(*types.AttributeValueMemberSS)
	if v != nil && !ok {
		return nil, wrongType(v)
	}
	var members []string
	if set != nil {
		members = slices.DeleteFunc(slices.Clone(set.Value), func(s string) bool { return slices.Contains(c.Values, s) })
	}
	if !c.Out {
		members = append(members, c.Values...)
		slices.Sort(members)
	}
	if len(members) == 0 {
		return nil, nil
	}
	return &types.AttributeValueMemberSS{Value: members}, nil
}
