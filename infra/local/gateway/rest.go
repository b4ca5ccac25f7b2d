package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
	"github.com/rethread/rethread/infra/local/gateway/throttle"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// streamIdle is how long a stream of a regional REST API may be silent.
const streamIdle = 5 * time.Minute

// Error messages of REST APIs.
const (
	internalError = "Internal server error"
	tooLong       = "Request Too Long"
	unknownPath   = "Missing Authentication Token"
)

// RESTOptions configure a REST.
type RESTOptions struct {
	API             samtemplate.RESTAPI
	Functions       []samtemplate.Function
	Invoker         Invoker
	Region, Account string
	// StreamIdle is how long a streamed answer may be silent; 0 means the limit of a
	// regional API, 5 minutes.
	StreamIdle time.Duration
	Log        func(Access)
}

// REST is the handler of one REST API. Unlike an HTTP API, it uses payload format
// 1.0, Lambda authorizers and streamed answers.
type REST struct {
	opts        RESTOptions
	routes      routes
	authorizers map[string]*proxyv1.Authorizer
	limiter     throttle.Limiter
}

// NewREST returns the gateway of the template's API. It fails if a part of the API
// would behave differently in the cloud.
func NewREST(opts RESTOptions) (*REST, error) {
	if opts.StreamIdle == 0 {
		opts.StreamIdle = streamIdle
	}
	g := &REST{opts: opts, authorizers: map[string]*proxyv1.Authorizer{}, limiter: throttle.New(opts.API.Throttle)}
	for name, config := range opts.API.Lambda {
		g.authorizers[name] = &proxyv1.Authorizer{Function: config.Function, Invoker: opts.Invoker}
	}
	for _, function := range opts.Functions {
		for _, r := range function.Routes {
			if r.API == opts.API.LogicalID {
				g.routes = append(g.routes, newRoute(r, function.LogicalID))
			}
		}
	}
	return g, nil
}

// Handles reports whether the request, or the preflight request, is for one of the
// API's routes. Other requests are for the API that shares its address.
func (g *REST) Handles(r *http.Request) bool {
	r = g.withoutStage(r)
	_, ok := g.find(r)
	return ok || g.isPreflight(r)
}

// withoutStage removes the stage from the request's path. The API's own address
// contains it, a custom domain does not; both work here.
func (g *REST) withoutStage(r *http.Request) *http.Request {
	stage := "/" + g.opts.API.Stage
	path, staged := strings.CutPrefix(r.URL.Path, stage+"/")
	if !staged {
		return r
	}
	bare := r.Clone(r.Context())
	bare.URL.Path, bare.URL.RawPath = "/"+path, strings.TrimPrefix(r.URL.RawPath, stage)
	return bare
}

// find chooses the route of a request. A trailing slash is ignored, which only
// REST APIs do.
func (g *REST) find(r *http.Request) (match, bool) {
	found, ok := g.routes.find(r)
	if path, slash := strings.CutSuffix(r.URL.Path, "/"); !ok && slash {
		bare := r.Clone(r.Context())
		bare.URL.Path, bare.URL.RawPath = path, strings.TrimSuffix(r.URL.RawPath, "/")
		return g.routes.find(bare)
	}
	return found, ok
}

// ServeHTTP implements http.Handler.
func (g *REST) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	began := time.Now()
	access := Access{Time: began, Method: r.Method, Path: r.URL.Path}
	defer func() { // a stream that is cut off panics
		access.Duration = time.Since(began)
		g.opts.Log(access)
	}()
	g.serve(rw, r, &access)
}

func (g *REST) serve(rw http.ResponseWriter, r *http.Request, access *Access) {
	id := uuid.NewString()
	rw.Header().Set("X-Amzn-Requestid", id)
	asked := r.URL.EscapedPath()
	r = g.withoutStage(r)
	matched, ok := g.find(r)
	switch {
	case ok && !g.limiter.Allow():
		access.Status = g.refuse(rw, http.StatusTooManyRequests, throttle.Message)
		return
	case ok:
	case g.isPreflight(r):
		access.Status = g.preflight(rw, r)
		return
	default:
		access.Status = g.refuse(rw, http.StatusForbidden, unknownPath)
		return
	}
	body, refused := readBody(rw, r)
	if refused != 0 {
		text := http.StatusText(refused)
		if refused == http.StatusRequestEntityTooLarge {
			text = tooLong
		}
		access.Status = g.refuse(rw, refused, text)
		return
	}
	request := newProxyRequest(r, body, matched, g.opts.API.Variables, g.proxyContext(r, id, asked, matched))
	if err := g.authorize(r, matched.route, &request); err != nil {
		status, message := proxyv1.Status(err)
		access.Status = g.refuse(rw, status, message)
		return
	}
	access.Function = matched.route.function
	payload, err := json.Marshal(request)
	if err != nil {
		access.Status = g.refuse(rw, http.StatusInternalServerError, internalError)
		return
	}
	g.integrate(rw, r, matched.route, payload, access)
}

// integrate runs the function and passes its answer on, within the route's
// timeout.
func (g *REST) integrate(rw http.ResponseWriter, r *http.Request, to route, payload []byte, access *Access) {
	ctx, cancel := context.WithTimeout(r.Context(), to.Timeout)
	defer cancel()
	result, err := g.opts.Invoker.Invoke(ctx, to.function, payload)
	switch {
	case err == nil:
	case r.Context().Err() != nil:
		access.Status = statusClientGone
		return
	case errors.Is(err, lambda.ErrRequestTooLarge):
		access.Status = g.refuse(rw, http.StatusRequestEntityTooLarge, tooLong)
		return
	case errors.Is(err, context.DeadlineExceeded):
		access.Status = g.refuse(rw, http.StatusGatewayTimeout, "Endpoint request timed out")
		return
	default:
		access.Status = g.refuse(rw, http.StatusInternalServerError, internalError)
		return
	}
	access.Cold = result.Cold
	if result.Stream == nil || result.Stream.ContentType != lambda.TypeHTTPStream {
		result.Collect()
		access.Status = g.refuse(rw, http.StatusBadGateway, internalError) // API Gateway accepts no other type
		return
	}
	access.Status = http.StatusOK
	status, err := forwardStream(ctx, rw, result.Stream, g.opts.StreamIdle)
	if err != nil {
		status = g.refuse(rw, http.StatusBadGateway, internalError)
	}
	access.Status = status
}

// authorize invokes the route's authorizer, if it has one, and adds its context to
// the request.
func (g *REST) authorize(r *http.Request, to route, request *proxyRequest) error {
	if to.Authorizer == "" {
		return nil
	}
	arn := proxyv1.ARN(g.opts.Region, g.opts.Account, g.opts.API.LogicalID, g.opts.API.Stage,
		r.Method+r.URL.EscapedPath())
	said, err := g.authorizers[to.Authorizer].Authorize(r.Context(), r, arn, request.forAuthorizer(arn))
	request.RequestContext.Authorizer = said
	return err
}

// refuse writes an error of the gateway as the template configures it: by its own type
// or, if that is not configured, by the default of its class.
func (g *REST) refuse(rw http.ResponseWriter, status int, message string) int {
	configured, ok := g.opts.API.Errors[errorType(status, message)]
	switch {
	case ok:
	case status >= http.StatusInternalServerError:
		configured = g.opts.API.Errors["DEFAULT_5XX"]
	default:
		configured = g.opts.API.Errors["DEFAULT_4XX"]
	}
	for name, value := range configured.Headers {
		rw.Header().Set(name, value)
	}
	status = cmp.Or(configured.Status, status)
	if configured.Body == "" {
		return refuse(rw, status, message)
	}
	quoted := strconv.Quote(message) // plain ASCII without quotes
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_, _ = io.WriteString(rw, strings.ReplaceAll(configured.Body, "$context.error.messageString", quoted)) // the caller may have disconnected
	return status
}

// errorType returns API Gateway's type of an error, "" for one that has only a default.
func errorType(status int, message string) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHORIZED"
	case http.StatusForbidden:
		if message == unknownPath {
			return "MISSING_AUTHENTICATION_TOKEN"
		}
		return "ACCESS_DENIED"
	case http.StatusRequestEntityTooLarge:
		return "REQUEST_TOO_LARGE"
	case http.StatusTooManyRequests:
		return "THROTTLED"
	case http.StatusGatewayTimeout:
		return "INTEGRATION_TIMEOUT"
	}
	return ""
}
