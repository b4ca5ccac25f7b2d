package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// cors answers preflight requests and sets CORS headers in place of the functions.
// A nil cors does nothing, so the functions' own CORS headers are passed on.
type cors struct{ config samtemplate.CORS }

func newCORS(config *samtemplate.CORS) *cors {
	if config == nil {
		return nil
	}
	return &cors{config: *config}
}

// WithCORS applies an API's CORS configuration to a handler that is not part of
// the API.
func WithCORS(config *samtemplate.CORS, next http.Handler) http.Handler {
	c := newCORS(config)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if c.preflight(rw, r) {
			return
		}
		c.allow(rw.Header(), r)
		next.ServeHTTP(rw, r)
	})
}

// preflight answers a preflight request for any path.
func (c *cors) preflight(rw http.ResponseWriter, r *http.Request) bool {
	if c == nil || r.Method != http.MethodOptions || r.Header.Get("Origin") == "" ||
		r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header := rw.Header()
	if c.allow(header, r) {
		header.Del("Access-Control-Expose-Headers")
		setList(header, "Access-Control-Allow-Methods", c.config.AllowMethods)
		setList(header, "Access-Control-Allow-Headers", c.config.AllowHeaders)
		if c.config.MaxAge != 0 {
			header.Set("Access-Control-Max-Age", strconv.Itoa(c.config.MaxAge))
		}
	}
	rw.WriteHeader(http.StatusNoContent)
	return true
}

// allow sets the headers that let the origin read the answer, if it is allowed.
func (c *cors) allow(header http.Header, r *http.Request) bool {
	if c == nil {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" || !c.allowed(origin) {
		return false
	}
	if slices.Contains(c.config.AllowOrigins, "*") {
		origin = "*"
	}
	header.Set("Access-Control-Allow-Origin", origin)
	setList(header, "Access-Control-Expose-Headers", c.config.ExposeHeaders)
	return true
}

func (c *cors) allowed(origin string) bool {
	scheme, _, _ := strings.Cut(origin, "://")
	return slices.ContainsFunc(c.config.AllowOrigins, func(allowed string) bool {
		return allowed == "*" || allowed == scheme+"://*" || strings.EqualFold(allowed, origin)
	})
}

func setList(header http.Header, name string, values []string) {
	if len(values) > 0 {
		header.Set(name, strings.Join(values, ","))
	}
}
