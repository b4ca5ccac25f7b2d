package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
)

// Problem turns an error into an answer. An error that is not a fault is logged
// and answered as an internal error without details.
func (a *API) Problem(c *Call, err error) *Reply {
	f, expected := problem.Of(err)
	if !expected {
		a.Log.ErrorContext(c.Context(), "request failed",
			"method", c.Method, "path", c.URL.Path, "error", err)
	}
	return ProblemReply(problem.New(f, c.RequestID))
}

// ProblemReply is a problem as an answer.
func ProblemReply(p problem.Answer) *Reply {
	return &Reply{Status: p.Status, Header: p.Header, Body: p.Body}
}

func unknownPath(c *Call) (*Reply, error) {
	return nil, fault.New(fault.RouteNotFound, "there is nothing at %s", c.URL.Path)
}

// wrongMethod answers 405 with the path's methods.
func (a *API) wrongMethod(c *Call) (*Reply, error) {
	path := c.URL.Path
	if c.URL.RawPath != "" {
		path = c.URL.RawPath
	}
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if a.Mux.Match(chi.NewRouteContext(), m, path) {
			allowed = append(allowed, m)
		}
	}
	slices.Sort(allowed)
	rep := ProblemReply(problem.New(fault.New(fault.MethodNotAllowed, "%s is not allowed here", c.Method), c.RequestID))
	rep.Header.Set("Allow", strings.Join(allowed, ", "))
	return rep, nil
}
