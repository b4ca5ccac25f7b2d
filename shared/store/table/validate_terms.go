package table

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table/value"
)

func (s Schema) validatePath(p Path) error {
	switch {
	case len(p) == 0 || slices.Contains(p, ""):
		return invalid("a path with an empty name: %q", []string(p))
	case len(p) > 1 && s.isKey(p[0]):
		return invalid("%q leads into a key, which has no members", []string(p))
	}
	return nil
}

func (s Schema) isKey(name string) bool {
	if name == PK || name == SK {
		return true
	}
	return slices.ContainsFunc(s.Indexes, func(i IndexSchema) bool { return name == i.Partition || name == i.Sort })
}

func (s Schema) validateCondition(c Condition) error {
	switch c := c.(type) {
	case Presence:
		return s.validatePath(c.Path)
	case Comparison:
		return s.validateComparison(c)
	case Containing:
		return s.validateContaining(c)
	case Every:
		return s.validateAll(c.Of)
	case Any:
		return s.validateAll(c.Of)
	case Negation:
		return s.validateCondition(c.Of)
	}
	return invalid("a condition of type %T", c)
}

func (s Schema) validateAll(of []Condition) error {
	if len(of) == 0 {
		return invalid("a condition of no conditions")
	}
	for _, c := range of {
		if err := s.validateCondition(c); err != nil {
			return err
		}
	}
	return nil
}

func (s Schema) validateComparison(c Comparison) error {
	v, err := s.validateValue(c.Path, c.Value)
	if err != nil {
		return err
	}
	if c.Op < OpEqual || c.Op > OpAtLeast {
		return invalid("there is no operator %d", c.Op)
	}
	_, isNumber := v.(*types.AttributeValueMemberN)
	if c.Size && !isNumber {
		return invalid("a size is compared with a number, not %T", v)
	}
	_, ordered := value.Compare(v, v)
	if c.Op != OpEqual && c.Op != OpNotEqual && !ordered {
		return invalid("%T has no order", v)
	}
	return nil
}

func (s Schema) validateContaining(c Containing) error {
	v, err := s.validateValue(c.Path, c.Value)
	if err != nil {
		return err
	}
	if _, ordered := value.Compare(v, v); !ordered {
		return invalid("what contains %T cannot be asked", v)
	}
	return nil
}

// validateValue encodes a value that belongs to a path.
func (s Schema) validateValue(p Path, v any) (types.AttributeValue, error) {
	if err := s.validatePath(p); err != nil {
		return nil, err
	}
	encoded, err := EncodeValue(v)
	if err != nil {
		return nil, err
	}
	if encoded, err = value.NormalValue(encoded); err != nil {
		return nil, invalid("%v: %w", []string(p), err)
	}
	if n := value.SizeOf(encoded); n > MaxItemBytes {
		return nil, fmt.Errorf("%w: a value of %d bytes", ErrTooLarge, n)
	}
	return encoded, nil
}

func (s Schema) validateChanges(changes []Change) error {
	if len(changes) == 0 {
		return invalid("an update that changes nothing")
	}
	paths := make([]Path, 0, len(changes))
	for _, c := range changes {
		p, err := s.validateChange(c)
		if err != nil {
			return err
		}
		if name := p[0]; name == PK || name == SK {
			return invalid("an update cannot change %v, which is a key", []string(p))
		}
		if slices.ContainsFunc(paths, func(other Path) bool { return overlap(p, other) }) {
			return invalid("an update changes %v twice", []string(p))
		}
		paths = append(paths, p)
	}
	return nil
}

// overlap reports whether one path is a prefix of the other.
func overlap(a, b Path) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// validateChange returns the path of a change that is valid on its own.
func (s Schema) validateChange(c Change) (Path, error) {
	switch c := c.(type) {
	case Setting:
		_, err := s.validateValue(c.Path, c.Value)
		return c.Path, err
	case Adding:
		return c.Path, s.validatePath(c.Path)
	case Appending:
		list, err := EncodeList(c.Values)
		if err == nil {
			_, err = s.validateValue(c.Path, list)
		}
		return c.Path, err
	case SetChanging:
		if len(c.Path) != 1 || len(c.Values) == 0 {
			return nil, invalid("%v: strings go into a set of the item itself, and at least one", []string(c.Path))
		}
		set := slices.Sorted(slices.Values(c.Values))
		if len(slices.Compact(set)) < len(c.Values) {
			return nil, invalid("%v: a string of a set is named twice", []string(c.Path))
		}
		return c.Path, s.validatePath(c.Path)
	case Removing:
		return c.Path, s.validatePath(c.Path)
	}
	return nil, invalid("a change of type %T", c)
}
