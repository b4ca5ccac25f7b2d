package notification

import (
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
)

// CheckFilter validates a list of which an event must match one entry: it has at
// most the given number of entries, no duplicates, and each passes check.
func CheckFilter(pointer string, entries []string, most int, check func(pointer, entry string) error) error {
	if len(entries) > most {
		return fault.Field(fault.Invalid, pointer, "must have at most %d entries", most)
	}
	for i, entry := range entries {
		at := pointer + "/" + strconv.Itoa(i)
		if err := check(at, entry); err != nil {
			return err
		}
		if slices.Contains(entries[:i], entry) {
			return fault.Field(fault.Invalid, at, "must be named once")
		}
	}
	return nil
}

// CheckType validates an entry of a filter by type: a public type, or a pattern for
// several.
func CheckType(pointer, entry string) error {
	if !slices.ContainsFunc(PublicTypes(), func(t Type) bool { return t.Matches(entry) }) {
		return fault.Field(fault.Invalid, pointer, "must be a type such as run.completed, or several such as run.*")
	}
	return nil
}
