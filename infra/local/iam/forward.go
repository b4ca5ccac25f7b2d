package iam

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// connectionsKept is about how many requests of functions an engine answers at a
// time.
const connectionsKept = 256

var errNoAddress = errors.New("no address to forward to")

// Forward returns a handler that passes requests on to a service at another
// address, as if accessKey had signed all of them: callers share what belongs to
// it. It keeps connections to the service until closeIdle is called.
func Forward(endpoint, accessKey string) (handler http.Handler, closeIdle func(), err error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errNoAddress, err)
	}
	if target.Host == "" {
		return nil, nil, fmt.Errorf("%w: %q", errNoAddress, endpoint)
	}
	transport := &http.Transport{
		MaxIdleConns: connectionsKept, MaxIdleConnsPerHost: connectionsKept,
		DisableCompression: true, // answers carry checksums of what is sent
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			signAs(r.Out, accessKey)
		},
		Transport: transport,
		ErrorHandler: func(rw http.ResponseWriter, _ *http.Request, _ error) {
			rw.WriteHeader(http.StatusBadGateway) // a client tries again, or is gone
		},
	}
	return proxy, transport.CloseIdleConnections, nil
}
