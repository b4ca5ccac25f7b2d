package table

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Key is the primary key of an item.
type Key struct{ PK, SK string }

// NewKey is the key of an item in a partition.
func NewKey(pk, sk string) Key { return Key{PK: pk, SK: sk} }

// Item is an item that has the key alone.
func (k Key) Item() Item {
	return Item{PK: &types.AttributeValueMemberS{Value: k.PK}, SK: &types.AttributeValueMemberS{Value: k.SK}}
}

// Write is one write of one item, made by Put, Update, Delete or Check. A package
// that takes part in another's transaction returns writes; nobody looks into them
// but engines.
type Write struct {
	Kind    Kind
	Key     Key
	Item    Item     // of a put
	Changes []Change // of an update
	If      Condition
	// Err is why the write cannot be made; an engine returns it and does nothing.
	Err error
}

// Kind is what a write does.
type Kind int

// The kinds of writes.
const (
	PutKind Kind = iota + 1
	UpdateKind
	DeleteKind
	CheckKind
)

// Put stores a record instead of what stands under its key, which the record has in
// its members PK and SK. A record is a struct, or an Item.
func Put(record any, conditions ...Condition) Write {
	item, err := Encode(record)
	w := Write{Kind: PutKind, Item: item, If: all(conditions), Err: err}
	if err == nil {
		w.Key, w.Err = KeyOf(item)
	}
	return w
}

// Update changes members of an item. It makes the item where there is none, so that
// an update of what must exist says so by a condition.
func Update(k Key, changes []Change, conditions ...Condition) Write {
	return Write{Kind: UpdateKind, Key: k, Changes: changes, If: all(conditions)}
}

// Delete removes an item, or does nothing where there is none.
func Delete(k Key, conditions ...Condition) Write {
	return Write{Kind: DeleteKind, Key: k, If: all(conditions)}
}

// Check writes nothing. In a transaction it keeps the others from being written
// where its condition does not hold; alone it is ErrInvalid.
func Check(k Key, c Condition, more ...Condition) Write {
	return Write{Kind: CheckKind, Key: k, If: all(append([]Condition{c}, more...))}
}

// all is nil for no condition, and their conjunction for more than one.
func all(conditions []Condition) Condition {
	switch len(conditions) {
	case 0:
		return nil
	case 1:
		return conditions[0]
	}
	return And(conditions...)
}
