package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
		{"exact parts come first", g, "GET", "/pets/dog/1", "GET /pets/dog/1", nil},
		{"then parameters", g, "GET", "/pets/dog/2", "GET /pets/dog/{id}", map[string]string{"id": "2"}},
		{"an exact part earlier in the path wins", g, "GET", "/pets/cat/1", "GET /pets/{kind}/1", map[string]string{"kind": "cat"}},
		{"then greedy ones", g, "GET", "/pets/cat/2/3", "GET /pets/{proxy+}", map[string]string{"proxy": "cat/2/3"}},
		{"a named method comes before any", g, "DELETE", "/pets/dog/2", "ANY /pets/dog/{id}", map[string]string{"id": "2"}},
		{"the longest greedy prefix wins", g, "PUT", "/pets/cat", "ANY /{proxy+}", map[string]string{"proxy": "pets/cat"}},
		{"parameters are decoded", g, "GET", "/pets/dog/a%20b%2Fc", "GET /pets/dog/{id}", map[string]string{"id": "a b/c"}},
		{"what fits nothing else goes to the default", withDefault, "GET", "/nowhere", "$default", nil},
		{"a method that does not fit too", withDefault, "POST", "/pets", "$default", nil},
		{"without a default nothing is found", mustGateway(t, setup{routes: []string{"GET /pets"}}), "POST", "/pets", "", nil},
		{"an empty part is no parameter", mustGateway(t, setup{routes: []string{"GET /pets/{id}"}}), "GET", "/pets/", "", nil},
		{"a longer path does not fit", mustGateway(t, setup{routes: []string{"GET /pets/{id}"}}), "GET", "/pets/1/2", "", nil},
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
				t.Errorf("took %s, want %s", event.RouteKey, test.want)
			}
			if diff := cmp.Diff(test.parameters, event.PathParameters); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRoutePrecedence draws routes and paths: whichever route is taken, no other
// that fits is more exact at the first part where the two differ.
func TestRoutePrecedence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
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
			rt.Fatalf("%s among %v took %q (%d)", target, routes, event.RouteKey, status)
		}
	})
}

// shape tells routes apart that a gateway would not: names of parameters do not count.
func shape(route string) string {
	return strings.NewReplacer("{x}", "{}", "{y}", "{}").Replace(route)
}

// exactness sorts the routes that fit, the most exact first; "" means no fit.
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
