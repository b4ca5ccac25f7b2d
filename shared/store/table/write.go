package table

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Key is the primary key of an item.
type Key struct{ PK, SK string }

// NewKey returns the key of an item in a partition.
func NewKey(pk, sk string) Key { return Key{PK: pk, SK: sk} }

// Item returns an item with only the key.
func (k Key) Item() Item {
	return Item{PK: &types.AttributeValueMemberS{Value: k.PK}, SK: &types.AttributeValueMemberS{Value: k.SK}}
}

// Write is a write of one item, made by Put, Update, Delete or Check. A package
// that takes part in another package's transaction returns writes; only engines
// read their fields.
type Write struct {
	Kind    Kind
	Key     Key
	Item    Item     // for a put
	Changes []Change // for an update
	If      Condition
	// Err is why the write could not be built; an engine returns it and does
	// nothing.
	Err error
}

// Kind is the kind of a write.
type Kind int

// The kinds of writes.
const (
	PutKind Kind = iota + 1
	UpdateKind
	DeleteKind
	CheckKind
)

// Put stores a record and replaces the item under its key, if any. A record is a
// struct or an Item with the members PK and SK.
func Put(record any, conditions ...Condition) Write {
	item, err := Encode(record)
	w := Write{Kind: PutKind, Item: item, If: all(conditions), Err: err}
	if err == nil {
		w.Key, w.Err = KeyOf(item)
	}
	return w
}

// Update changes members of an item. It creates a missing item, so an update that
// needs an existing item must add a condition.
func Update(k Key, changes []Change, conditions ...Condition) Write {
	return Write{Kind: UpdateKind, Key: k, Changes: changes, If: all(conditions)}
}

// Delete removes an item; a missing item is no error.
func Delete(k Key, conditions ...Condition) Write {
	return Write{Kind: DeleteKind, Key: k, If: all(conditions)}
}

// Check writes nothing. In a transaction it prevents the other writes if its
// condition does not hold; on its own it is ErrInvalid.
func Check(k Key, c Condition, more ...Condition) Write {
	return Write{Kind: CheckKind, Key: k, If: all(append([]Condition{c}, more...))}
}

// all returns nil for no condition and the conjunction of several.
func all(conditions []Condition) Condition {
	switch len(conditions) {
	case 0:
		return nil
	case 1:
		return conditions[0]
	}
	return And(conditions...)
}
