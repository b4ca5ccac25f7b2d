package pattern

import (
	"maps"
	"slices"
)

// Operators lists the supported operators.
func Operators() []string { return append(slices.Collect(maps.Keys(rules())), "exists") }
