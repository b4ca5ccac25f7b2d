// Package gateway emulates an API Gateway HTTP API in front of Lambda functions:
// its routes, CORS, JWT authorizers, payload format 2.0, limits and error bodies.
// It also emulates REST APIs (see REST).
package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/gateway/throttle"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// Limits of HTTP APIs.
const (
	maxBodyBytes   = 10 << 20
	maxHeaderBytes = 10240
)

// statusClientGone is logged if the caller disconnected first.
const statusClientGone = 499

// Invoker runs functions.
type Invoker interface {
	// Invoke returns lambda.ErrThrottled if the concurrency limit is reached,
	// lambda.ErrRequestTooLarge if Lambda would refuse the payload, and ctx's error if
	// ctx ended first.
	Invoke(ctx context.Context, name string, payload []byte) (*lambda.Result, error)
}

// Access is an entry of the access log.
type Access struct {
	Time     time.Time
	Method   string
	Path     string
	Status   int
	Function string // empty if the gateway answered without a function
	Duration time.Duration
	Cold     bool
}

// Options configure a Gateway.
type Options struct {
	API       samtemplate.HTTPAPI
	Functions []samtemplate.Function
	Invoker   Invoker
	Keys      Keys
	Now       func() time.Time // at which tokens must be valid; nil means time.Now
	Account   string
	Log       func(Access)
}

// Gateway is the handler of one HTTP API.
type Gateway struct {
	opts    Options
	routes  routes
	cors    *cors
	limiter throttle.Limiter
}

// New returns the gateway of the template's API. It fails if a part of the API
// would behave differently in the cloud.
func New(opts Options) (*Gateway, error) {
	g := &Gateway{opts: opts, cors: newCORS(opts.API.CORS), limiter: throttle.New(opts.API.Throttle)}
	for _, function := range opts.Functions {
		for _, r := range function.Routes {
			if r.API != opts.API.LogicalID {
				continue
			}
			if _, ok := opts.API.JWT[r.Authorizer]; r.Authorizer != "" && !ok {
				return nil, fmt.Errorf("route %s %s: authorizer %s must be a JWT authorizer; the local host supports no other",
					r.Method, r.Path, r.Authorizer)
			}
			g.routes = append(g.routes, newRoute(r, function.LogicalID))
		}
	}
	return g, nil
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	began := time.Now()
	access := Access{Time: began, Method: r.Method, Path: r.URL.Path}
	if g.cors.preflight(rw, r) {
		access.Status = http.StatusNoContent
	} else {
		g.serve(rw, r, &access)
	}
	access.Duration = time.Since(began)
	g.opts.Log(access)
}

func (g *Gateway) serve(rw http.ResponseWriter, r *http.Request, access *Access) {
	id := uuid.NewString()
	rw.Header().Set("Apigw-Requestid", id)
	g.cors.allow(rw.Header(), r)
	matched, ok := g.routes.find(r)
	if !ok {
		access.Status = refuse(rw, http.StatusNotFound, "Not Found")
		return
	}
	if !g.limiter.Allow() {
		access.Status = refuse(rw, http.StatusTooManyRequests, throttle.Message)
		return
	}
	claims, denial := g.authorize(r, matched.route.Route)
	if denial != nil {
		access.Status = denial.write(rw)
		return
	}
	body, refused := readBody(rw, r)
	if refused != 0 {
		access.Status = refuse(rw, refused, http.StatusText(refused))
		return
	}
	access.Function = matched.route.function
	payload, err := buildEvent(r, body, g.requestContext(r, id, matched, claims), matched.parameters)
	if err != nil {
		access.Status = refuse(rw, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	access.Status, access.Cold = g.integrate(rw, r, matched.route, payload)
}

// integrate runs the function and writes its answer.
func (g *Gateway) integrate(rw http.ResponseWriter, r *http.Request, to route, payload []byte) (status int, cold bool) {
	ctx, cancel := context.WithTimeout(r.Context(), to.Timeout)
	defer cancel()
	result, err := g.opts.Invoker.Invoke(ctx, to.function, payload)
	switch {
	case err == nil:
	case r.Context().Err() != nil:
		return statusClientGone, false
	case errors.Is(err, lambda.ErrRequestTooLarge):
		return refuse(rw, http.StatusRequestEntityTooLarge, "Request Entity Too Large"), false
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, lambda.ErrThrottled):
		return refuse(rw, http.StatusServiceUnavailable, "Service Unavailable"), false
	default:
		return refuse(rw, http.StatusInternalServerError, "Internal Server Error"), false
	}
	result.Collect() // HTTP APIs do not stream answers
	answer, err := readAnswer(result)
	if err != nil {
		return refuse(rw, http.StatusInternalServerError, "Internal Server Error"), result.Cold
	}
	answer.write(rw, g.cors != nil)
	return answer.StatusCode, result.Cold
}

// readBody returns the whole body, or the status with which to refuse the request.
func readBody(rw http.ResponseWriter, r *http.Request) (body []byte, refused int) {
	size := len(r.Method) + len(r.URL.RequestURI())
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxHeaderBytes {
		return nil, http.StatusRequestHeaderFieldsTooLarge
	}
	if r.ContentLength > maxBodyBytes {
		return nil, http.StatusRequestEntityTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge
	case err != nil:
		return nil, http.StatusBadRequest
	default:
		return body, 0
	}
}

// refuse writes an error of the gateway and returns its status.
func refuse(rw http.ResponseWriter, status int, message string) int {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_, _ = io.WriteString(rw, `{"message":"`+message+`"}`) // the caller may have disconnected
	return status
}
