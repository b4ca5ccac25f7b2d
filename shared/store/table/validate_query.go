package table

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Index returns the index with a name.
func (s Schema) Index(name Index) (IndexSchema, bool) {
	for _, index := range s.Indexes {
		if index.Name == name {
			return index, true
		}
	}
	return IndexSchema{}, false
}

// KeyMembers returns the names of the keys of the table or an index.
func (s Schema) KeyMembers(name Index) (partition, sort string) {
	if index, ok := s.Index(name); ok {
		return index.Partition, index.Sort
	}
	return PK, SK
}

// Members returns the names of the members that an index projects.
func (i IndexSchema) Members() []string {
	return slices.Concat([]string{PK, SK, i.Partition, i.Sort}, i.NonKeyMembers)
}

// ValidateQuery refuses a query that can never succeed.
func (s Schema) ValidateQuery(q Query) error {
	if err := ValidateReading(q.Reading); err != nil {
		return err
	}
	if q.Index != "" {
		if err := s.validateIndexQuery(q); err != nil {
			return err
		}
	}
	switch {
	case q.Partition == "" || len(q.Partition) > MaxPartitionKey:
		return invalid("a partition key of %d bytes", len(q.Partition))
	case len(q.From) > MaxSortKey || len(q.To) > MaxSortKey:
		return invalid("a bound of %d bytes", max(len(q.From), len(q.To)))
	case q.To != "" && q.From > q.To:
		return invalid("from %q to %q is no range", q.From, q.To)
	case q.Limit < 0:
		return invalid("a limit of %d", q.Limit)
	case q.After != nil:
		return s.validatePosition(q)
	}
	return nil
}

func (s Schema) validateIndexQuery(q Query) error {
	index, ok := s.Index(q.Index)
	if !ok {
		return invalid("there is no index %q", q.Index)
	}
	if q.Consistent {
		return invalid("an index is read eventually consistent")
	}
	for _, name := range q.Members {
		if !slices.Contains(index.Members(), name) {
			return invalid("index %s does not have %s", q.Index, name)
		}
	}
	return nil
}

// validatePosition refuses a position of another index, partition or range.
func (s Schema) validatePosition(q Query) error {
	partition, sort := s.KeyMembers(q.Index)
	names := []string{PK, SK}
	if q.Index != "" {
		names = append(names, partition, sort)
	}
	if len(q.After) != len(names) {
		return invalid("a position of another table or index")
	}
	for _, name := range names {
		if text, ok := q.After[name].(*types.AttributeValueMemberS); !ok || text.Value == "" {
			return invalid("a position without %s", name)
		}
	}
	at := Text(q.After, sort)
	if Text(q.After, partition) != q.Partition || at < q.From || q.To != "" && at > q.To {
		return invalid("a position that is not in the range of its query")
	}
	return nil
}

// Text returns the string value of a member; "" if it is missing or of another
// type.
func Text(item Item, name string) string {
	if text, ok := item[name].(*types.AttributeValueMemberS); ok {
		return text.Value
	}
	return ""
}

// PrefixEnd returns the upper bound of the sort keys that begin with a prefix; the
// prefix itself is the lower bound.
func PrefixEnd(prefix string) string { return prefix + "\U0010FFFF" }
