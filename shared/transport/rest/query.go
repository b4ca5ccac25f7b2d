package rest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/ids"
)

// Query is the parameters of a list. Unknown ones are ignored; a repeated one
// is refused, because either value could be the intended one.
type Query struct{ Values url.Values }

// Query reads the parameters of a request.
func (c *Call) Query() (Query, error) {
	values, err := url.ParseQuery(c.URL.RawQuery)
	if err != nil {
		return Query{}, fault.New(fault.Malformed, "the query is malformed: a %% stands before two hexadecimal digits, a & between parameters")
	}
	return Query{values}, nil
}

// Text reads a parameter of at most limit characters, "" if absent.
func (q Query) Text(name string, limit int) (string, error) {
	given := q.Values[name]
	if len(given) == 0 {
		return "", nil
	}
	switch s := given[0]; {
	case len(given) > 1:
		return "", fault.Field(fault.Malformed, name, "must be given once")
	case !utf8.ValidString(s):
		return "", fault.Field(fault.Malformed, name, "must be valid UTF-8")
	case utf8.RuneCountInString(s) > limit:
		return "", fault.Field(fault.Malformed, name, "must be at most %d characters", limit)
	default:
		return s, nil
	}
}

// ID reads a parameter that filters by an id, "" if absent.
func (q Query) ID(name string) (string, error) {
	s, err := q.Text(name, ids.MaxLength)
	if err != nil || !q.Values.Has(name) {
		return "", err
	}
	if err := ids.Check(name, s); err != nil {
		return "", fault.Field(fault.Malformed, name, "is no id: 1 to %d characters, no control characters, no /", ids.MaxLength)
	}
	return s, nil
}

// Choice reads a parameter with one of a few values; the first is the default.
func (q Query) Choice(name string, words ...string) (string, error) {
	if !q.Values.Has(name) {
		return words[0], nil
	}
	s, err := q.Text(name, ids.MaxLength)
	if err != nil {
		return "", err
	}
	if s == "" || !slices.Contains(words, s) {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		return "", fault.Field(fault.Malformed, name, "must be one of %s", strings.Join(words, ", "))
	}
	return s, nil
}

// Integer reads a parameter between least and most, or returns the default.
func (q Query) Integer(name string, least, most, absent int64) (int64, error) {
	if !q.Values.Has(name) {
		return absent, nil
	}
	s, err := q.Text(name, ids.MaxLength)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fault.Field(fault.Malformed, name, "must be an integer from %d to %d", least, most)
	}
	return n, nil
}
