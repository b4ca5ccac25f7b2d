package iam

import (
	"regexp"
	"slices"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// condition compares the leading keys of a call with what a statement names.
type condition struct {
	any    bool // one key is enough; else all must match
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

// holds knows that of no keys at all, all match, and none does.
func (c condition) holds(keys []string) bool {
	if c.any {
		return slices.ContainsFunc(keys, c.matches)
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return !c.matches(key) })
}

func (c condition) matches(key string) bool {
	return slices.ContainsFunc(c.values, func(value *regexp.Regexp) bool { return value.MatchString(key) })
}
