package host

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/table"
)

// handler routes requests to the REST APIs' routes, to the HTTP API, as if they
// shared a custom domain, and to the development issuer and clock. When ending is closed,
// streaming answers are cut off, because they would not end on their own.
func (s *System) handler(ending <-chan struct{}) (http.Handler, error) {
	log := accessLog(s.opts.Output)
	api := s.template.HTTPAPIs[0]
	gate, err := gateway.New(gateway.Options{
		API: api, Functions: s.template.Functions, Invoker: s.lambdas, Keys: s.keys, Now: s.clock.Now, Account: account, Log: log,
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(devPrefix+"/", s.issuer.Handler(devPrefix))
	mux.Handle(devPrefix+"/clock", s.clock.Handler(devPrefix))
	dev := withAccessLog(gateway.WithCORS(api.CORS, mux), log)
	stack := withAccessLog(http.HandlerFunc(s.serveStack), log)
	rests, err := s.restAPIs(log)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == stackPath:
			stack.ServeHTTP(rw, r)
		case !s.opts.SignIn.configured() && strings.HasPrefix(r.URL.Path, devPrefix+"/"):
			dev.ServeHTTP(rw, r)
		default:
			if api, ok := findREST(rests, r); ok {
				serveUntil(ending, api, rw, r)
				return
			}
			gate.ServeHTTP(rw, r)
		}
	}), nil
}

// findREST finds the REST API that has a route for the request.
func findREST(apis []*gateway.REST, r *http.Request) (*gateway.REST, bool) {
	for _, api := range apis {
		if api.Handles(r) {
			return api, true
		}
	}
	return nil, false
}

// serveUntil cuts the answer off when end is closed.
func serveUntil(end <-chan struct{}, handler http.Handler, rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-end:
			cancel()
		case <-ctx.Done():
		}
	}()
	handler.ServeHTTP(rw, r.WithContext(ctx))
}

func (s *System) restAPIs(log func(gateway.Access)) ([]*gateway.REST, error) {
	var rests []*gateway.REST
	for _, api := range s.template.RESTAPIs {
		api.Variables = s.localize(api.Variables)
		rest, err := gateway.NewREST(gateway.RESTOptions{
			API: api, Functions: s.template.Functions, Invoker: s.lambdas,
			Region: table.Region, Account: account, Log: log,
		})
		if err != nil {
			return nil, err
		}
		rests = append(rests, rest)
	}
	return rests, nil
}

// accessLog prints a line for each request.
func accessLog(out io.Writer) func(gateway.Access) {
	return func(a gateway.Access) {
		function, start := a.Function, "warm"
		if function == "" {
			function, start = "gateway", "-"
		} else if a.Cold {
			start = "cold"
		}
		// A closed terminal must not fail requests.
		_, _ = fmt.Fprintf(out, "%s %s %s %d %s %dms %s\n",
			a.Time.Format("15:04:05.000"), a.Method, a.Path, a.Status, function, a.Duration.Milliseconds(), start)
	}
}

// withAccessLog writes an access log line for a handler that is not a gateway.
func withAccessLog(next http.Handler, log func(gateway.Access)) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := time.Now()
		recorded := &statusRecorder{ResponseWriter: rw, status: http.StatusOK}
		next.ServeHTTP(recorded, r)
		log(gateway.Access{
			Time: began, Method: r.Method, Path: r.URL.Path, Status: recorded.status, Duration: time.Since(began),
		})
	})
}

// statusRecorder records the status that was written.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
