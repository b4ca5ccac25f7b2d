package contract_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/shared/domain/notification"
)

func TestSpec(t *testing.T) {
	spec, err := contract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("describes the routes that the template deploys, and no others", func(t *testing.T) {
		if diff := gocmp.Diff(mustTemplateRoutes(t), sorted(spec.Routes())); diff != "" {
			t.Errorf("template.yaml (-) and infra/openapi.yaml (+) differ:\n%s", diff)
		}
	})
	for _, schema := range []string{"EventTypes", "WebhookType"} {
		t.Run(schema+" lists the types of events and their families", func(t *testing.T) {
			got := spec.Enum(schema)
			slices.Sort(got)
			if diff := gocmp.Diff(mustEventNames(t), got); diff != "" {
				t.Errorf("shared/domain/notification (-) and infra/openapi.yaml (+) differ:\n%s", diff)
			}
		})
	}
}

// mustEventNames are the types of events that filters may name, and their
// families.
func mustEventNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, typ := range notification.PublicTypes() {
		family, _, ok := strings.Cut(string(typ), ".")
		if !ok {
			t.Fatalf("%s has no family", typ)
		}
		names = append(names, string(typ), family+".*")
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func mustTemplate(t *testing.T) *samtemplate.Template {
	t.Helper()
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://issuer.example", "JwtAudience": "rethread"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func mustTemplateRoutes(t *testing.T) []contract.Route {
	t.Helper()
	template := mustTemplate(t)
	var routes []contract.Route
	for _, function := range template.Functions {
		for _, r := range function.Routes {
			if function.LogicalID == "ConsoleFunction" && !strings.HasPrefix(r.Path, "/api") {
				continue // a page for people, not part of the API
			}
			if strings.HasSuffix(r.Path, "/{unknown+}") {
				continue // what does not exist is not part of it either
			}
			// OpenAPI has no parameters for the rest of a path: they are like any other.
			path := strings.ReplaceAll(r.Path, "+}", "}")
			routes = append(routes, contract.Route{Method: r.Method, Path: path})
		}
	}
	return sorted(routes)
}

func sorted(routes []contract.Route) []contract.Route {
	slices.SortFunc(routes, func(a, b contract.Route) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return routes
}
