package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const streamMode = "RESPONSE_STREAM"

// functionURL serves a function's own address, streaming where it is told to.
type functionURL struct {
	function samtemplate.Function
	invoker  Invoker
	cors     *cors
	log      func(Access)
}

// NewFunctionURL returns the handler of a function's own address.
func NewFunctionURL(function samtemplate.Function, invoker Invoker, log func(Access)) (http.Handler, error) {
	if function.URL == nil || function.URL.AuthType != "NONE" {
		return nil, fmt.Errorf("function %s: only a URL with AuthType NONE can be served here", function.LogicalID)
	}
	return &functionURL{function: function, invoker: invoker, cors: newCORS(function.URL.CORS), log: log}, nil
}

// ServeHTTP implements http.Handler.
func (f *functionURL) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if f.cors.preflight(rw, r) {
		return
	}
	f.cors.allow(rw.Header(), r)
	began := time.Now()
	status, cold := f.serve(rw, r)
	f.log(Access{
		Time: began, Method: r.Method, Path: r.URL.Path, Status: status,
		Function: f.function.LogicalID, Duration: time.Since(began), Cold: cold,
	})
}

func (f *functionURL) serve(rw http.ResponseWriter, r *http.Request) (status int, cold bool) {
	body, refused := readBody(rw, r)
	if refused != 0 {
		return refuse(rw, refused, http.StatusText(refused)), false
	}
	ctx := newRequestContext(r, uuid.NewString())
	ctx.RouteKey, ctx.Stage, ctx.APIID = defaultKey, defaultKey, ctx.DomainPrefix
	payload, err := buildEvent(r, body, ctx, nil)
	if err != nil {
		return refuse(rw, http.StatusInternalServerError, "Internal Server Error"), false
	}
	result, err := f.invoker.Invoke(r.Context(), f.function.LogicalID, payload)
	switch {
	case err == nil:
	case r.Context().Err() != nil:
		return statusClientGone, false
	case errors.Is(err, lambda.ErrRequestTooLarge):
		return refuse(rw, http.StatusRequestEntityTooLarge, "Request Entity Too Large"), false
	case errors.Is(err, lambda.ErrThrottled):
		return refuse(rw, http.StatusTooManyRequests, "Rate Exceeded."), false
	default:
		return refuse(rw, http.StatusBadGateway, "Internal Server Error"), false
	}
	if f.function.URL.InvokeMode == streamMode && result.Stream != nil {
		status, err := passOn(r.Context(), rw, result.Stream, stamp{ownCORS: f.cors != nil})
		if err != nil {
			status = refuse(rw, http.StatusBadGateway, "Internal Server Error")
		}
		return status, result.Cold
	}
	result.Collect()
	buffered, err := readAnswer(result)
	if err != nil {
		return refuse(rw, http.StatusBadGateway, "Internal Server Error"), result.Cold
	}
	buffered.write(rw, f.cors != nil)
	return buffered.StatusCode, result.Cold
}
