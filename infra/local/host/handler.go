package host

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/local/gateway"
)

// handler routes requests to the HTTP API, to the development issuer and, by
// the host they name, to functions' own addresses.
func (s *System) handler() (http.Handler, error) {
	log := accessLog(s.opts.Output)
	api := s.template.HTTPAPIs[0]
	gate, err := gateway.New(gateway.Options{
		API: api, Functions: s.template.Functions, Invoker: s.lambdas, Keys: s.issuer, Account: account, Log: log,
	})
	if err != nil {
		return nil, err
	}
	dev := logged(gateway.WithCORS(api.CORS, s.issuer.Handler(devPrefix)), log)
	urls := map[string]http.Handler{}
	for _, f := range s.template.Functions {
		if f.URL == nil {
			continue
		}
		handler, err := gateway.NewFunctionURL(f, s.lambdas, log)
		if err != nil {
			return nil, err
		}
		urls[strings.ToLower(f.LogicalID)] = handler
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		name, rest, _ := strings.Cut(strings.ToLower(r.Host), ".")
		switch own, ok := urls[name]; {
		case ok && strings.HasPrefix(rest, "lambda-url."):
			own.ServeHTTP(rw, r)
		case strings.HasPrefix(r.URL.Path, devPrefix+"/"):
			dev.ServeHTTP(rw, r)
		default:
			gate.ServeHTTP(rw, r)
		}
	}), nil
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
		// A terminal that is gone must not fail requests.
		_, _ = fmt.Fprintf(out, "%s %s %s %d %s %dms %s\n",
			a.Time.Format("15:04:05.000"), a.Method, a.Path, a.Status, function, a.Duration.Milliseconds(), start)
	}
}

// logged writes an access line for a handler that is no gateway.
func logged(next http.Handler, log func(gateway.Access)) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := time.Now()
		recorded := &statusRecorder{ResponseWriter: rw, status: http.StatusOK}
		next.ServeHTTP(recorded, r)
		log(gateway.Access{
			Time: began, Method: r.Method, Path: r.URL.Path, Status: recorded.status, Duration: time.Since(began),
		})
	})
}

// statusRecorder remembers the status that was written.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
