package sessions

import (
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Unforked is the condition that the session was not forked since it was read.
func (h *Header) Unforked() table.Condition {
	return table.And(h.SameLog(), records.Unchanged(HeaderForkCount, h.ForkCount))
}
