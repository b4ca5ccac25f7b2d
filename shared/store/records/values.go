package records

import (
	"encoding/base32"
	"strings"

	"github.com/rethread/rethread/shared/store/table"
)

// Deref returns what a pointer points to, or the zero value.
func Deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Unchanged is the condition that an attribute, which is absent if it is 0 or
// empty, still has the value that was read.
func Unchanged[T comparable](name string, read T) table.Condition {
	var none T
	if read == none {
		return table.NotExists(table.Path{name})
	}
	return table.Equal(table.Path{name}, read)
}

// NewLog generates the name of a log: 80 random bits. Every item of a log contains
// the name, so it is short.
func (b Base) NewLog() string {
	random := b.Random()
	return strings.ToLower(base32.StdEncoding.EncodeToString(random[6:]))
}
