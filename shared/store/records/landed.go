package records

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// landed reports whether an item is in the state that a write would leave it in. It
// is false for changes that depend on the earlier state, such as additions.
func landed(w table.Write, item table.Item) bool {
	switch w.Kind {
	case table.DeleteKind:
		return item == nil
	case table.PutKind:
		return item != nil && value.EqualItems(item, w.Item)
	case table.UpdateKind:
		return item != nil && !slices.ContainsFunc(w.Changes, func(c table.Change) bool { return !holds(c, item) })
	case table.CheckKind:
	}
	return false
}

// holds reports whether an item is in the state that a change would leave it in.
func holds(c table.Change, item table.Item) bool {
	switch c := c.(type) {
	case table.Setting:
		want, err := table.EncodeValue(c.Value)
		found := at(item, c.Path)
		return err == nil && found != nil && !c.IfAbsent && value.Equal(found, want)
	case table.Removing:
		return at(item, c.Path) == nil
	}
	return false
}

// at returns the value at a path of an item, or nil.
func at(item table.Item, p table.Path) types.AttributeValue {
	var found types.AttributeValue = &types.AttributeValueMemberM{Value: item}
	for _, name := range p {
		m, ok := found.(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		found = m.Value[name]
	}
	return found
}

// repeatable reports whether a write may be sent again after its answer was lost: a
// second attempt either fails its condition or changes nothing.
func repeatable(w table.Write) bool {
	return w.If != nil || !slices.ContainsFunc(w.Changes, func(c table.Change) bool {
		switch c.(type) {
		case table.Adding, table.Appending:
			return true
		}
		return false
	})
}
