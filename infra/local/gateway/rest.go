package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
	"github.com/rethread/rethread/infra/local/gateway/throttle"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// streamIdle is how long a regional REST API bears a stream's silence.
const streamIdle = 5 * time.Minute

// How REST APIs word what went wrong.
const (
	internalError = "Internal server error"
	tooLong       = "Request Too Long"
)

// RESTOptions are what a REST API's gateway needs.
type RESTOptions struct {
	API             samtemplate.RESTAPI
	Functions       []samtemplate.Function
	Invoker         Invoker
	Region, Account string
	// StreamIdle is how long a streamed answer may be silent; 0 means as long as
	// a regional API allows, which is 5 minutes.
	StreamIdle time.Duration
	Log        func(Access)
}

// REST is the handler of one REST API. It speaks payload format 1.0, asks Lambda
// authorizers and streams answers, which HTTP APIs cannot.
type REST struct {
	opts        RESTOptions
	routes      routes
	authorizers map[string]*proxyv1.Authorizer
	limiter     throttle.Limiter
}

// NewREST returns the gateway of the template's API. It fails for what would
// pass here and not there, or the other way round.
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

// Takes says whether one of the API's routes is meant, by a preflight request
// too. Others are for the API that shares its address.
func (g *REST) Takes(r *http.Request) bool {
	r = g.unstaged(r)
	_, ok := g.find(r)
	return ok || g.isPreflight(r)
}

// unstaged is the request without the stage in front of its path: the API's own
// address has it, that of a domain of one's own has not. Both answer here.
func (g *REST) unstaged(r *http.Request) *http.Request {
	stage := "/" + g.opts.API.Stage
	path, staged := strings.CutPrefix(r.URL.Path, stage+"/")
	if !staged {
		return r
	}
	bare := r.Clone(r.Context())
	bare.URL.Path, bare.URL.RawPath = "/"+path, strings.TrimPrefix(r.URL.RawPath, stage)
	return bare
}

// find chooses the route of a request. A slash at the end of the path does not
// count, which is so at REST APIs alone.
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
	defer func() { // a stream that breaks off leaves by a panic
		access.Duration = time.Since(began)
		g.opts.Log(access)
	}()
	g.serve(rw, r, &access)
}

func (g *REST) serve(rw http.ResponseWriter, r *http.Request, access *Access) {
	id := uuid.NewString()
	rw.Header().Set("X-Amzn-Requestid", id)
	asked := r.URL.EscapedPath()
	r = g.unstaged(r)
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
		access.Status = g.refuse(rw, http.StatusForbidden, "Missing Authentication Token")
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
	request := newProxyRequest(r, body, matched, g.proxyContext(r, id, asked, matched))
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

// integrate runs the function and passes its answer on, within the route's time.
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
		access.Status = g.refuse(rw, http.StatusBadGateway, internalError) // API Gateway takes nothing else
		return
	}
	access.Status = http.StatusOK
	status, err := passOn(ctx, rw, result.Stream, g.opts.StreamIdle)
	if err != nil {
		status = g.refuse(rw, http.StatusBadGateway, internalError)
	}
	access.Status = status
}

// authorize asks the route's authorizer, if it has one, and puts what it says
// into the request.
func (g *REST) authorize(r *http.Request, to route, request *proxyRequest) error {
	if to.Authorizer == "" {
		return nil
	}
	arn := proxyv1.ARN(g.opts.Region, g.opts.Account, g.opts.API.LogicalID, g.opts.API.Stage,
		r.Method+r.URL.EscapedPath())
	said, err := g.authorizers[to.Authorizer].Ask(r.Context(), r, arn, request.forAuthorizer(arn))
	request.RequestContext.Authorizer = said
	return err
}

// refuse writes an error of the gateway's own, with the headers that the
// template gives such answers.
func (g *REST) refuse(rw http.ResponseWriter, status int, message string) int {
	kind := "DEFAULT_4XX"
	if status >= http.StatusInternalServerError {
		kind = "DEFAULT_5XX"
	}
	for name, value := range g.opts.API.ErrorHeaders[kind] {
		rw.Header().Set(name, value)
	}
	return refuse(rw, status, message)
}
