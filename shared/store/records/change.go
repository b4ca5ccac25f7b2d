package records

import "github.com/rethread/rethread/shared/store/table"

// Change is a record of the table's stream: an item before and after a write. Old
// is nil for a new item, New for a removed one.
type Change struct {
	Old, New table.Item
}
