package sessions

import (
	"errors"
	"fmt"
	"maps"

	"github.com/rethread/rethread/shared/store/table"
)

// SameLog is the condition that the session is still the one that was read.
func (h *Header) SameLog() table.Condition { return table.Equal(table.Path{HeaderLog}, h.Log) }

// Unmatchable returns table.ErrUnreadable if a condition on the header failed although
// the item that it met decodes to what was read: no condition matches the stored form
// of its attributes, so that every further attempt would fail too. Otherwise it
// returns err.
func (h *Header) Unmatchable(err error) error {
	var failed *table.ConditionError
	if !errors.As(err, &failed) {
		return err
	}
	for _, f := range failed.Failures {
		var met Header
		if table.Text(f.Found, table.PK) != h.PK || table.Text(f.Found, table.SK) != h.SK || table.Decode(f.Found, &met) != nil {
			continue
		}
		if met.Log == h.Log && met.ForkCount == h.ForkCount && met.Epoch == h.Epoch && met.Tasks == h.Tasks && met.Version == h.Version && maps.Equal(met.Saving, h.Saving) {
			return fmt.Errorf("%w: the attributes of session %s have another form than this version writes", table.ErrUnreadable, h.ID())
		}
	}
	return err
}
