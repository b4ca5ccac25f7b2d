package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
)

// ETag returns the entity tag of a version.
func ETag(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }

// IfMatch is the condition of an If-Match header.
type IfMatch struct {
	given bool
	any   bool     // *
	tags  []string // strong tags; weak ones never match
}

// ParseIfMatch reads the header If-Match.
func ParseIfMatch(h http.Header) (IfMatch, error) {
	lines := h.Values("If-Match")
	if len(lines) == 0 {
		return IfMatch{}, nil
	}
	m := IfMatch{given: true}
	rest := strings.TrimSpace(strings.Join(lines, ","))
	if rest == "*" {
		m.any = true
		return m, nil
	}
	for first := true; first || rest != ""; first = false {
		weak := strings.HasPrefix(rest, "W/")
		tag, after, ok := cutTag(strings.TrimPrefix(rest, "W/"))
		if !ok {
			return IfMatch{}, fault.Field(fault.Malformed, "If-Match", `must be * or a list of entity tags such as "3"`)
		}
		if !weak {
			m.tags = append(m.tags, tag)
		}
		rest = after
	}
	return m, nil
}

// cutTag removes a quoted tag and the following comma from a list.
func cutTag(list string) (tag, rest string, ok bool) {
	if !strings.HasPrefix(list, `"`) {
		return "", "", false
	}
	end := strings.IndexByte(list[1:], '"')
	if end < 0 {
		return "", "", false
	}
	tag, rest = list[:end+2], strings.TrimSpace(list[end+2:])
	if rest == "" {
		return tag, "", true
	}
	rest, ok = strings.CutPrefix(rest, ",")
	rest = strings.TrimSpace(rest)
	return tag, rest, ok && rest != ""
}

// Version returns the version that an update requires, nil without If-Match.
// The matching version must still be current when the update is made; read
// returns the current version of the resource called name.
func (m IfMatch) Version(name string, read func() (int64, error)) (*int64, error) {
	if !m.given || m.any {
		return nil, nil
	}
	version, err := read()
	if err != nil {
		return nil, err
	}
	if !m.matches(version) {
		return nil, fault.New(fault.Precondition, "If-Match does not hold: the %s is at version %d", name, version)
	}
	return &version, nil
}

func (m IfMatch) matches(version int64) bool {
	return !m.given || m.any || slices.Contains(m.tags, ETag(version))
}
