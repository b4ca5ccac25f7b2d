package table

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table/value"
)

// The checks that every engine makes before it does anything, so that all engines
// refuse the same requests.

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// ValidateKey refuses a key with an empty or overlong part.
func ValidateKey(k Key) error {
	switch {
	case k.PK == "" || k.SK == "":
		return invalid("a key with an empty part: %q, %q", k.PK, k.SK)
	case len(k.PK) > MaxPartitionKey || len(k.SK) > MaxSortKey:
		return invalid("a key of %d and %d bytes, at most %d and %d", len(k.PK), len(k.SK), MaxPartitionKey, MaxSortKey)
	}
	return nil
}

// ValidateWrite refuses a write that can never succeed, whatever is stored:
// ErrInvalid, or ErrTooLarge if an item or a value exceeds the limit.
func (s Schema) ValidateWrite(w Write) error {
	if w.Err != nil {
		return w.Err
	}
	if err := ValidateKey(w.Key); err != nil {
		return err
	}
	if w.If != nil {
		if err := s.validateCondition(w.If); err != nil {
			return err
		}
	}
	switch w.Kind {
	case PutKind:
		return s.validatePut(w)
	case UpdateKind:
		return s.validateChanges(w.Changes)
	case DeleteKind:
		return nil
	case CheckKind:
		if w.If == nil {
			return invalid("a check without a condition")
		}
		return nil
	}
	return invalid("a write of kind %d", w.Kind)
}

func (s Schema) validatePut(w Write) error {
	if k, err := KeyOf(w.Item); err != nil || k != w.Key {
		return invalid("the item of a put is not of its key")
	}
	if _, err := value.Normal(w.Item); err != nil {
		return invalid("%w", err)
	}
	if err := s.ValidateIndexKeys(w.Item); err != nil {
		return err
	}
	if n := value.Size(w.Item); n > MaxItemBytes {
		return fmt.Errorf("%w: an item of %d bytes", ErrTooLarge, n)
	}
	return nil
}

// ValidateIndexKeys refuses an item whose members that are keys of an index are not
// strings, or are empty or too long.
func (s Schema) ValidateIndexKeys(item Item) error {
	for _, index := range s.Indexes {
		for _, part := range []struct {
			name string
			most int
		}{{index.Partition, MaxPartitionKey}, {index.Sort, MaxSortKey}} {
			v, ok := item[part.name]
			if !ok {
				continue
			}
			text, ok := v.(*types.AttributeValueMemberS)
			if !ok || text.Value == "" || len(text.Value) > part.most {
				return invalid("%s is a key of index %s: a string of 1 to %d bytes", part.name, index.Name, part.most)
			}
		}
	}
	return nil
}

// ValidateTransaction refuses a transaction that can never succeed.
func (s Schema) ValidateTransaction(t Transaction) error {
	if len(t.Writes) == 0 || len(t.Writes) > MaxTransaction {
		return invalid("a transaction of %d writes, at most %d", len(t.Writes), MaxTransaction)
	}
	if len(t.Token) > maxToken {
		return invalid("a token of %d bytes, at most %d", len(t.Token), maxToken)
	}
	if err := s.validateEach(t.Writes); err != nil {
		return err
	}
	size := 0
	for _, w := range t.Writes {
		size += value.Size(w.Item)
	}
	if size > MaxTransactionBytes {
		return fmt.Errorf("%w: a transaction of %d bytes", ErrTooLarge, size)
	}
	return nil
}

const maxToken = 36

func (s Schema) validateEach(writes []Write) error {
	seen := make(map[Key]bool, len(writes))
	for i, w := range writes {
		if err := s.ValidateWrite(w); err != nil {
			return fmt.Errorf("write %d: %w", i, err)
		}
		if seen[w.Key] {
			return invalid("write %d is the second of one item", i)
		}
		seen[w.Key] = true
	}
	return nil
}

// ValidateBatch refuses writes that a batch does not support.
func (s Schema) ValidateBatch(writes []Write) error {
	if err := s.validateEach(writes); err != nil {
		return err
	}
	for i, w := range writes {
		if w.If != nil || w.Kind != PutKind && w.Kind != DeleteKind {
			return invalid("write %d of a batch is no put or delete without a condition", i)
		}
	}
	return nil
}

// ValidateReading refuses unnamed or repeated members.
func ValidateReading(r Reading) error {
	if r.Members != nil && len(r.Members) == 0 || slices.Contains(r.Members, "") {
		return invalid("members to read that have no name")
	}
	if sorted := slices.Sorted(slices.Values(r.Members)); len(slices.Compact(sorted)) < len(r.Members) {
		return invalid("a member to read is named twice")
	}
	return nil
}
