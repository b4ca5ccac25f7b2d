package pattern

import (
	"maps"
	"slices"
)

// Operators are the rules that patterns may have.
func Operators() []string { return append(slices.Collect(maps.Keys(rules())), "exists") }
