package iam

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// maxIdleConnections is about the number of concurrent requests of functions to an
// engine.
const maxIdleConnections = 256

// FunctionHeader is the header in which Forward names the function that made a request,
// by its logical id, after its access key was replaced.
const FunctionHeader = "X-Rethread-Function"

var errNoAddress = errors.New("invalid address to forward to")

// Forward returns a handler that passes requests to a service at another address,
// as if accessKey had signed all of them: the callers share its database. It keeps
// idle connections until closeIdle is called.
func Forward(endpoint, accessKey string) (handler http.Handler, closeIdle func(), err error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errNoAddress, err)
	}
	if target.Host == "" {
		return nil, nil, fmt.Errorf("%w: %q", errNoAddress, endpoint)
	}
	transport := &http.Transport{
		MaxIdleConns: maxIdleConnections, MaxIdleConnsPerHost: maxIdleConnections,
		DisableCompression: true, // answers carry checksums of the bytes sent
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if c, ok := callerOf(r.In); ok {
				r.Out.Header.Set(FunctionHeader, c.key)
			}
			signAs(r.Out, accessKey)
		},
		Transport: transport,
		ErrorHandler: func(rw http.ResponseWriter, _ *http.Request, _ error) {
			rw.WriteHeader(http.StatusBadGateway) // the client retries or has disconnected
		},
	}
	return proxy, transport.CloseIdleConnections, nil
}
