package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
)

// problem turns an error into an answer. An error that is not a fault is logged
// and answered as an internal error without details.
func (a *api) problem(c *call, err error) *reply {
	f, expected := problem.Of(err)
	if !expected {
		a.Log.ErrorContext(c.Context(), "request failed",
			"method", c.Method, "path", c.URL.Path, "error", err)
	}
	return problemReply(problem.New(f, c.requestID))
}

func problemReply(p problem.Answer) *reply {
	return &reply{status: p.Status, header: p.Header, body: p.Body}
}

func unknownPath(c *call) (*reply, error) {
	return nil, fault.New(fault.RouteNotFound, "there is nothing at %s", c.URL.Path)
}

// wrongMethod answers 405 with the path's methods.
func (a *api) wrongMethod(c *call) (*reply, error) {
	path := c.URL.Path
	if c.URL.RawPath != "" {
		path = c.URL.RawPath
	}
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if a.mux.Match(chi.NewRouteContext(), m, path) {
			allowed = append(allowed, m)
		}
	}
	slices.Sort(allowed)
	rep := problemReply(problem.New(fault.New(fault.MethodNotAllowed, "%s is not allowed here", c.Method), c.requestID))
	rep.header.Set("Allow", strings.Join(allowed, ", "))
	return rep, nil
}
