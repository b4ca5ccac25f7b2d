package rest

import (
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
)

// problem turns an error into an answer. What is no fault is an internal
// error: its details go to the log and never to the caller.
func (a *api) problem(c *call, err error) *reply {
	var f *fault.Error
	if errors.As(err, &f) && problem.Status(f.Kind) != 0 {
		return problemReply(c, f)
	}
	a.Log.ErrorContext(c.Context(), "request failed",
		"method", c.Method, "path", c.URL.Path, "error", err)
	return problemReply(c, internal())
}

func internal() *fault.Error { return &fault.Error{Detail: "Internal error."} }

func problemReply(c *call, f *fault.Error) *reply {
	status := problem.Status(f.Kind)
	if status == 0 {
		status = http.StatusInternalServerError
	}
	rep := problemBody(c, status, f)
	if f.Kind == fault.Unauthorized {
		rep.header.Set("WWW-Authenticate", "Bearer")
	}
	if f.Kind == fault.Busy || f.RetryAfter > 0 {
		rep.header.Set("Retry-After", retryAfter(f.RetryAfter))
	}
	return rep
}

// retryAfter is a wait in whole seconds, at least one.
func retryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}

// problemBody is a problem of RFC 9457. Members that the fault adds never
// replace those of the standard.
func problemBody(c *call, status int, f *fault.Error) *reply {
	body := map[string]any{}
	maps.Copy(body, f.Extra)
	body["type"] = "about:blank"
	body["title"] = http.StatusText(status)
	body["status"] = status
	body["detail"] = f.Detail
	body["request_id"] = c.requestID
	violations := f.Violations
	if len(violations) == 0 && f.Kind == fault.Invalid {
		violations = []fault.Violation{{Detail: f.Detail}} // of the whole document
	}
	if len(violations) > 0 {
		body["errors"] = violations
	}
	rep, err := jsonReply(status, body)
	if err != nil { // only a member of Extra can fail to encode
		rep = &reply{status: status, body: []byte(`{"type":"about:blank"}`), header: http.Header{}}
	}
	rep.header.Set("Content-Type", problemType)
	return rep
}

func unknownPath(c *call) (*reply, error) {
	return nil, fault.New(fault.NotFound, "there is nothing at %s", c.URL.Path)
}

// wrongMethod answers 405 with the methods that the path does have.
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
	rep := problemBody(c, http.StatusMethodNotAllowed, fault.New(0, "%s is not allowed here", c.Method))
	rep.header.Set("Allow", strings.Join(allowed, ", "))
	return rep, nil
}
