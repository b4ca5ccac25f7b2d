package artifact

import (
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/ids"
)

// CheckName validates the name of an artifact: names are ids that are safe as file
// names. pointer is the name's JSON pointer in the request.
func CheckName(pointer, name string) error {
	if err := ids.Check(pointer, name); err != nil {
		return err
	}
	switch strings.TrimPrefix(name, UserPrefix) {
	case "":
		return fault.Field(fault.Invalid, pointer, "must go on after %q", UserPrefix)
	case ".", "..":
		return fault.Field(fault.Invalid, pointer, "must not be a relative path")
	}
	return nil
}
