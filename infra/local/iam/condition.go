package iam

import (
	"regexp"
	"slices"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// condition compares the leading keys of a call with those in a statement.
type condition struct {
	any    bool // one matching key is enough; otherwise all must match
	values []*regexp.Regexp
}

func newConditions(given []samtemplate.Condition) []condition {
	var conditions []condition
	for _, c := range given {
		one := condition{any: c.Any}
		for _, value := range c.Values {
			if c.Like {
				one.values = append(one.values, pattern("", value))
			} else {
				one.values = append(one.values, regexp.MustCompile("^"+regexp.QuoteMeta(value)+"$"))
			}
		}
		conditions = append(conditions, one)
	}
	return conditions
}

// isMet reports whether the condition is met. Without keys, "all" is met and "any"
// is not.
func (c condition) isMet(keys []string) bool {
	if c.any {
		return slices.ContainsFunc(keys, c.matches)
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return !c.matches(key) })
}

func (c condition) matches(key string) bool {
	return slices.ContainsFunc(c.values, func(value *regexp.Regexp) bool { return value.MatchString(key) })
}
