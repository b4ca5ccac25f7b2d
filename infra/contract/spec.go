// Package contract checks the HTTP API against infra/openapi.yaml: a client for
// tests checks every request it sends and every response it gets.
package contract

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/rethread/rethread/infra/local/repo"
)

// Spec is the validated description of the API.
type Spec struct {
	doc    *openapi3.T
	router routers.Router
}

// Route is one operation as the gateway routes it.
type Route struct {
	Method string
	Path   string // with the base path: /api/v1/sessions/{session_id}
}

// Operation is one operation of the API, as clients know it.
type Operation struct {
	ID         string
	Method     string
	Path       string   // under its first base path
	Parameters []string // names of the parameters in its path, query and headers
}

// Load reads infra/openapi.yaml of the repository around the working directory,
// and checks its examples.
func Load(ctx context.Context) (*Spec, error) {
	root, err := repo.Root("")
	if err != nil {
		return nil, fmt.Errorf("load the API's description: %w", err)
	}
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, "infra", "openapi.yaml"))
	if err != nil {
		return nil, fmt.Errorf("load the API's description: %w", err)
	}
	if err := doc.Validate(ctx, openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation()); err != nil {
		return nil, fmt.Errorf("validate the API's description: %w", err)
	}
	addBasePaths(doc)
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("route the API's description: %w", err)
	}
	return &Spec{doc: doc, router: router}, nil
}

// addBasePaths gives the paths with x-also-under that base path too. They name it in
// an extension, since generated clients send an operation with servers of its own to
// those instead of the address that they are configured with.
func addBasePaths(doc *openapi3.T) {
	for _, item := range doc.Paths.Map() {
		if base, ok := item.Extensions["x-also-under"].(string); ok {
			item.Servers = append(slices.Clone(doc.Servers), &openapi3.Server{URL: base})
		}
	}
}

// Routes lists every operation under each of its base paths.
func (s *Spec) Routes() []Route {
	var out []Route
	for path, item := range s.doc.Paths.Map() {
		servers := s.doc.Servers
		if len(item.Servers) > 0 {
			servers = item.Servers
		}
		for method := range item.Operations() {
			for _, server := range servers {
				out = append(out, Route{Method: method, Path: strings.TrimSuffix(server.URL, "/") + path})
			}
		}
	}
	return out
}

// Operations lists every operation once.
func (s *Spec) Operations() []Operation {
	var out []Operation
	for path, item := range s.doc.Paths.Map() {
		servers := s.doc.Servers
		if len(item.Servers) > 0 {
			servers = item.Servers
		}
		for method, op := range item.Operations() {
			o := Operation{ID: op.OperationID, Method: method, Path: strings.TrimSuffix(servers[0].URL, "/") + path}
			for _, p := range slices.Concat(item.Parameters, op.Parameters) {
				o.Parameters = append(o.Parameters, p.Value.Name)
			}
			out = append(out, o)
		}
	}
	return out
}

// Enum lists the values of a named schema, or of its items.
func (s *Spec) Enum(name string) []string {
	ref := s.doc.Components.Schemas[name]
	if ref == nil {
		return nil
	}
	values := ref.Value.Enum
	if items := ref.Value.Items; items != nil {
		values = items.Value.Enum
	}
	var out []string
	for _, v := range values {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// find returns the operation for a request.
func (s *Spec) find(req *http.Request) (*routers.Route, map[string]string, error) {
	return s.router.FindRoute(req)
}
