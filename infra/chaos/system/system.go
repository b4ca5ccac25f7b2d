// Package system runs the whole system with a database that fails according to a
// plan, and kills its processes.
package system

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rethread/rethread/infra/chaos/faults"
	"github.com/rethread/rethread/infra/chaos/proxy"
	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// Options configure a System.
type Options struct {
	Root string       // of the repository, with everything built
	Dir  string       // of the round, for data and logs
	Plan *faults.Plan // of the faults
	// Agents is the configuration of agents besides the local ones.
	Agents string
}

// System is a running system.
type System struct {
	URL, WebSocketURL, LambdaURL string
	Engine                       string // address of the database itself
	Proxy                        *proxy.Proxy

	options host.Options
	engine  *dynamodblocal.Engine
	log     *os.File

	mu      sync.Mutex
	host    *host.Host
	kills   map[string]int // killed processes by function, and "host"
	outages int            // changes of the host's availability, to detect requests during an outage
}

// Lease is how long a run may be silent: far less than deployed, but longer than
// the faults delay a worker.
const Lease = "12s"

// startTries is how often a host is started if its database fails.
const startTries = 10

// Start runs a system with an empty database, without faults yet.
func Start(ctx context.Context, opts Options) (*System, error) {
	s := &System{kills: map[string]int{}}
	if err := s.start(ctx, opts); err != nil {
		return nil, errors.Join(fmt.Errorf("start the system: %w", err), s.Stop())
	}
	return s, nil
}

func (s *System) start(ctx context.Context, opts Options) error {
	var err error
	if s.log, err = os.Create(filepath.Join(opts.Dir, "host.log")); err != nil {
		return err
	}
	if s.engine, err = dynamodblocal.Start(ctx, dynamodblocal.Options{Root: opts.Root}); err != nil {
		return err
	}
	s.Engine = s.engine.Endpoint()
	if s.Proxy, err = proxy.Start(ctx, s.Engine, opts.Plan); err != nil {
		return err
	}
	s.options = host.Options{
		Binary: filepath.Join(opts.Root, "build", "rethread-local"), Root: opts.Root,
		Data: filepath.Join(opts.Dir, "data"), Bin: filepath.Join(opts.Root, "build", "functions"),
		Env:    []string{"DYNAMODB_ENDPOINT=" + s.Proxy.URL, "RUN_LEASE=" + Lease, "AGENTS=" + opts.Agents},
		Output: io.Writer(s.log),
	}
	return s.run(ctx)
}

func (s *System) run(ctx context.Context) error {
	h, err := host.Start(ctx, s.options)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host, s.URL, s.WebSocketURL, s.LambdaURL = h, h.URL, h.WebSocketURL, h.LambdaURL
	s.options.HTTP, s.options.WS = strings.TrimPrefix(s.URL, "http://"), strings.TrimPrefix(s.WebSocketURL, "ws://")
	return nil
}

// KillWorkers kills the processes of a function.
func (s *System) KillWorkers(ctx context.Context, function string) error {
	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	n, err := h.KillWorkers(ctx, function)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kills[function] += n
	return err
}

// KillHost kills the host, and with it everything except the database, and
// immediately starts it again at the same address.
func (s *System) KillHost(ctx context.Context) error {
	s.mu.Lock()
	h := s.host
	s.kills["host"]++
	s.outages++
	s.mu.Unlock()
	if err := h.Kill(); err != nil {
		return err
	}
	var err error
	for range startTries {
		if err = s.run(ctx); err == nil {
			break
		}
	}
	s.mu.Lock()
	s.outages++
	s.mu.Unlock()
	return err
}

// Outages changes whenever the host goes down or comes up; it is odd while the host
// is down.
func (s *System) Outages() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outages
}

// Kills returns the killed processes by function, and "host".
func (s *System) Kills() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for name, n := range s.kills {
		out[name] = n
	}
	return out
}

// Stop ends everything.
func (s *System) Stop() error {
	var errs []error
	if s.host != nil {
		errs = append(errs, s.host.Stop())
	}
	if s.Proxy != nil {
		errs = append(errs, s.Proxy.Close())
	}
	if s.engine != nil {
		s.engine.Stop()
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	return errors.Join(errs...)
}

// Runner is the function that calls agents.
const Runner = "runner"

// victims are the functions whose processes are killed, the busiest more often.
func victims() []string {
	return []string{
		Runner, Runner, Runner, "runs", "runs", "sessions", "sessions", "fanout", "fanout",
		"watch", "sse", "fork", "rewind", "tasks", "sweeper", "artifacts", "events",
	}
}

// Victim draws a function.
func Victim(random *rand.Rand) string {
	all := victims()
	return all[random.IntN(len(all))]
}
