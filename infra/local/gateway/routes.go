package gateway

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// How specific a segment of a path is, most specific first.
const (
	rankExact = iota
	rankParameter
	rankGreedy
)

// defaultKey is the route for requests that match no other.
const defaultKey = "$default"

// route is a route of the API with its path split into segments.
type route struct {
	samtemplate.Route
	function string
	segments []segment
}

// segment is the part of a route's path between two slashes.
type segment struct {
	rank int
	text string // a parameter's name, or the literal text
}

type routes []route

// match is the route of a request, with the path's parameters both decoded and as
// they were sent.
type match struct {
	route               route
	parameters, escaped map[string]string
}

func newRoute(from samtemplate.Route, function string) route {
	r := route{Route: from, function: function}
	if from.Path == defaultKey {
		return r
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(from.Path, "/"), "/") {
		name, isParameter := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		switch {
		case isParameter && strings.HasSuffix(name, "+"):
			r.segments = append(r.segments, segment{rankGreedy, strings.TrimSuffix(name, "+")})
		case isParameter:
			r.segments = append(r.segments, segment{rankParameter, name})
		default:
			r.segments = append(r.segments, segment{rankExact, part})
		}
	}
	return r
}

// key is the route's name in events: "GET /path", or "$default".
func (r *route) key() string {
	if r.Path == defaultKey && r.Method == "ANY" {
		return defaultKey
	}
	return r.Method + " " + r.Path
}

// find returns the most specific route that matches the request: literal segments
// before parameters before greedy parameters, a named method before ANY, $default
// last.
func (rs routes) find(r *http.Request) (match, bool) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	var found []match
	for _, candidate := range rs {
		if candidate.Method != "ANY" && candidate.Method != r.Method {
			continue
		}
		if escaped, ok := candidate.matchPath(parts); ok {
			decoded := map[string]string{}
			for name, value := range escaped {
				decoded[name] = decode(value)
			}
			found = append(found, match{candidate, decoded, escaped})
		}
	}
	if len(found) == 0 {
		return match{}, false
	}
	return slices.MinFunc(found, func(a, b match) int { return compareRoutes(&a.route, &b.route) }), true
}

// matchPath reports whether the path matches, and returns its parameters with
// escapes.
func (r *route) matchPath(parts []string) (map[string]string, bool) {
	if r.Path == defaultKey {
		return nil, true
	}
	parameters := map[string]string{}
	for i, s := range r.segments {
		if i >= len(parts) || (parts[i] == "" && s.rank != rankExact) {
			return nil, false
		}
		switch s.rank {
		case rankExact:
			if decode(parts[i]) != s.text {
				return nil, false
			}
		case rankParameter:
			parameters[s.text] = parts[i]
		case rankGreedy:
			parameters[s.text] = strings.Join(parts[i:], "/")
			return parameters, true
		}
	}
	return parameters, len(parts) == len(r.segments)
}

func compareRoutes(a, b *route) int {
	if byDefault := cmp.Compare(flag(a.Path == defaultKey), flag(b.Path == defaultKey)); byDefault != 0 {
		return byDefault
	}
	for i := range min(len(a.segments), len(b.segments)) {
		if byRank := cmp.Compare(a.segments[i].rank, b.segments[i].rank); byRank != 0 {
			return byRank
		}
	}
	return cmp.Compare(flag(a.Method == "ANY"), flag(b.Method == "ANY"))
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

func decode(part string) string {
	if decoded, err := url.PathUnescape(part); err == nil {
		return decoded
	}
	return part
}
