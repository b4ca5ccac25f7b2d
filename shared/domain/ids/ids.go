// Package ids holds the rules for the ids and agent names that callers choose, which
// end up in keys of the table, in paths of the API and in links. It stands below all other
// packages of the domain.
package ids

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
)

// MaxLength is the maximum length of an id in characters.
const MaxLength = 128

// CheckAgent returns a fault for an invalid agent name. A name is an id, or a
// namespace and an id with a "/" between them, of at most 128 characters in all.
func CheckAgent(pointer, name string) error {
	if namespace, rest, ok := strings.Cut(name, "/"); ok {
		if namespace == "" || rest == "" {
			return fault.Field(fault.Invalid, pointer, "must have a name on either side of \"/\"")
		}
		if strings.Contains(rest, "/") {
			return fault.Field(fault.Invalid, pointer, "must hold one \"/\" at most, as in namespace/name")
		}
		name = namespace + "~" + rest // as in its address
	}
	return CheckSegment(pointer, name)
}

// Check returns a fault for an invalid id chosen by a caller. Ids are 1 to 128
// characters of valid UTF-8, without control characters and "/".
func Check(pointer, id string) error {
	switch {
	case id == "":
		return fault.Field(fault.Invalid, pointer, "must not be empty")
	case !utf8.ValidString(id):
		return fault.Field(fault.Invalid, pointer, "must be valid UTF-8")
	case utf8.RuneCountInString(id) > MaxLength:
		return fault.Field(fault.Invalid, pointer, "must be at most %d characters", MaxLength)
	}
	for _, r := range id {
		if r == '/' || unicode.IsControl(r) {
			return fault.Field(fault.Invalid, pointer, "must not contain %q", r)
		}
	}
	return nil
}

// CheckSegment is Check without "." and "..", which no request can name: clients
// resolve them in a path before they send it, and the rest is another resource's.
func CheckSegment(pointer, id string) error {
	if id == "." || id == ".." {
		return fault.Field(fault.Invalid, pointer, "must not be %q, which addresses leave out", id)
	}
	return Check(pointer, id)
}

// CheckNew is CheckSegment for the id of something new, which must not contain "?"
// either, because API Gateway's HTTP APIs cut paths at one, escaped or not.
func CheckNew(pointer, id string) error {
	if err := CheckSegment(pointer, id); err != nil {
		return err
	}
	if strings.Contains(id, "?") {
		return fault.Field(fault.Invalid, pointer, "must not contain %q", '?')
	}
	return nil
}
