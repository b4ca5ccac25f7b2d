package play

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/bench/meter/scenario"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

const (
	readHeaderTimeout = 10 * time.Second
	// systemQuiet is how long functions must be silent until what a request has caused is
	// over.
	systemQuiet = 1500 * time.Millisecond
	sweeper     = "SweeperFunction"
)

// system is a whole local system, used through HTTP.
type system struct {
	meter *meter.Proxy
	agent *scenario.Agent
	stops []func() error // in the order of their starts
	url   string
	token string
	paths map[string]string // of each thread's session
	last  map[string]string // the newest invocation of each thread
}

// startHTTP starts a system for requests as any client makes them.
func startHTTP(ctx context.Context, b Bench) (Peer, error) {
	return startSystem(ctx, b, "rethread")
}

func startSystem(ctx context.Context, b Bench, key string) (_ *system, err error) {
	s := &system{agent: &scenario.Agent{}, paths: map[string]string{}, last: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.meter, err = meter.Start(ctx, b.Engine); err != nil {
		return nil, err
	}
	s.stops = append(s.stops, s.meter.Close)
	config, err := s.serveAgent(ctx)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(b.Root, "build", "peer-"+key+"-system.log")) //nolint:gosec // named by our own keys
	if err != nil {
		return nil, fmt.Errorf("make a file for the system's log: %w", err)
	}
	s.stops = append(s.stops, log.Close)
	h, err := host.Start(ctx, host.Options{
		Binary: filepath.Join(b.Root, "build", "rethread-local"), Root: b.Root, Data: host.InMemory, Output: log,
		Env: []string{"AGENTS=" + config, "DYNAMODB_ENDPOINT=" + s.meter.URL, "DYNAMODB_ACCESS_KEY=" + account(key), "METRICS=functions"},
	})
	if err != nil {
		return nil, fmt.Errorf("%w (log: %s)", err, log.Name())
	}
	s.stops, s.url = append(s.stops, h.Stop), h.URL
	s.token, err = host.Token(ctx, h.URL, user)
	return s, err
}

// serveAgent starts the agent that answers runs, and returns its configuration.
func (s *system) serveAgent(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for the agent: %w", err)
	}
	server := &http.Server{Handler: s.agent, ReadHeaderTimeout: readHeaderTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.stops = append(s.stops, func() error {
		closed := server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(closed, err)
		}
		return closed
	})
	return scenario.AgentConfig("http://" + listener.Addr().String())
}

func (s *system) Close() error {
	var err error
	for i := len(s.stops) - 1; i >= 0; i-- {
		err = errors.Join(err, s.stops[i]())
	}
	return err
}

// Usage counts what functions requested, without the sweeper, which runs each minute
// whatever happens, and without the local host, which reads the table's stream.
func (s *system) Usage(ctx context.Context) (meter.Usage, error) {
	var sum meter.Usage
	if err := s.meter.Settle(ctx, systemQuiet, sweeper); err != nil {
		return sum, err
	}
	for call, u := range s.meter.Counts() {
		if call.Function != "" && call.Function != sweeper {
			sum = sum.Plus(u)
		}
	}
	return sum, nil
}
