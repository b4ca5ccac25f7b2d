package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
)

func TestRoutes(t *testing.T) {
	g := mustGateway(t, setup{routes: []string{
		"GET /pets/dog/1", "GET /pets/dog/{id}", "GET /pets/{kind}/1", "GET /pets/{proxy+}", "ANY /pets/dog/{id}",
		"POST /pets", "ANY /{proxy+}",
	}})
	withDefault := mustGateway(t, setup{routes: []string{"GET /pets", "ANY $default"}})
	for _, test := range []struct {
		name       string
		handler    http.Handler
		method     string
		target     string
		want       string
		parameters map[string]string
	}{
		{"prefers literal segments", g, "GET", "/pets/dog/1", "GET /pets/dog/1", nil},
		{"prefers parameters to greedy ones", g, "GET", "/pets/dog/2", "GET /pets/dog/{id}", map[string]string{"id": "2"}},
		{"prefers the earlier literal segment", g, "GET", "/pets/cat/1", "GET /pets/{kind}/1", map[string]string{"kind": "cat"}},
		{"matches a greedy parameter", g, "GET", "/pets/cat/2/3", "GET /pets/{proxy+}", map[string]string{"proxy": "cat/2/3"}},
		{"prefers a more specific path to a named method", g, "DELETE", "/pets/dog/2", "ANY /pets/dog/{id}", map[string]string{"id": "2"}},
		{"prefers the longest greedy prefix", g, "PUT", "/pets/cat", "ANY /{proxy+}", map[string]string{"proxy": "pets/cat"}},
		{"decodes parameters", g, "GET", "/pets/dog/a%20b%2Fc", "GET /pets/dog/{id}", map[string]string{"id": "a b/c"}},
		{"uses $default for an unknown path", withDefault, "GET", "/nowhere", "$default", nil},
		{"uses $default for another method", withDefault, "POST", "/pets", "$default", nil},
		{"returns 404 without $default", mustGateway(t, setup{routes: []string{"GET /pets"}}), "POST", "/pets", "", nil},
		{"does not match an empty parameter", mustGateway(t, setup{routes: []string{"GET /pets/{id}"}}), "GET", "/pets/", "", nil},
		{"does not match a longer path", mustGateway(t, setup{routes: []string{"GET /pets/{id}"}}), "GET", "/pets/1/2", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, event := send(t, test.handler, httptest.NewRequestWithContext(t.Context(), test.method, test.target, http.NoBody))
			if test.want == "" {
				if status != http.StatusNotFound {
					t.Fatalf("status %d, want 404", status)
				}
				return
			}
			if event.RouteKey != test.want {
				t.Errorf("route %s, want %s", event.RouteKey, test.want)
			}
			if diff := cmp.Diff(test.parameters, event.PathParameters); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRoutePrecedence draws routes and paths: no other matching route is more
// specific than the chosen one at the first segment where the two differ.
func TestRoutePrecedence(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "{x}", "{y}"})
		path := rapid.Custom(func(rt *rapid.T) string {
			parts := rapid.SliceOfN(part, 1, 3).Draw(rt, "parts")
			if rapid.Bool().Draw(rt, "greedy") {
				parts = append(parts, "{proxy+}")
			}
			return "GET /" + strings.Join(parts, "/")
		})
		routes := rapid.SliceOfNDistinct(path, 1, 8, shape).Draw(rt, "routes")
		target := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 4).Draw(rt, "target"), "/")
		status, event := send(t, mustGateway(t, setup{routes: routes}), httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
		best := ""
		for _, r := range routes {
			if s := exactness(r, target); s != "" && (best == "" || s < best) {
				best = s
			}
		}
		if (best == "") != (status == http.StatusNotFound) || exactness(event.RouteKey, target) != best {
			rt.Fatalf("%s among %v chose %q (%d)", target, routes, event.RouteKey, status)
		}
	})
}

// shape identifies routes that a gateway would not distinguish: names of
// parameters are ignored.
func shape(route string) string {
	return strings.NewReplacer("{x}", "{}", "{y}", "{}").Replace(route)
}

// exactness orders the matching routes, most specific first; "" means no match.
func exactness(key, target string) string {
	pattern := strings.Split(strings.TrimPrefix(key, "GET /"), "/")
	parts := strings.Split(strings.TrimPrefix(target, "/"), "/")
	ranks := ""
	for i, p := range pattern {
		switch {
		case i >= len(parts):
			return ""
		case p == "{proxy+}":
			return ranks + "2"
		case strings.HasPrefix(p, "{"):
			ranks += "1"
		case p == parts[i]:
			ranks += "0"
		default:
			return ""
		}
	}
	if len(pattern) != len(parts) {
		return ""
	}
	return ranks
}
