package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rethread/rethread/infra/local/bus"
)

// busName is the name of the template's event bus on this machine.
const busName = "rethread"

// buses is EventBridge's API, and the list of accepted events.
type buses struct {
	endpoint string
	server   *http.Server
}

// startBuses listens on a free local port.
func (s *System) startBuses(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for EventBridge: %w", err)
	}
	api := bus.New(s.opts.Log, time.Now)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", api.List)
	mux.Handle("POST /", s.guard.Protect(api, "events"))
	s.buses = &buses{
		endpoint: "http://" + listener.Addr().String(),
		server:   &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout},
	}
	s.running.Go(func() {
		if err := s.buses.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve EventBridge: %w", err))
		}
	})
	return nil
}

// EventsURL is where the accepted events are listed.
func (s *System) EventsURL() string { return s.buses.endpoint + "/events" }
