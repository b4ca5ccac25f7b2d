// Package delay measures the time from an agent's token to the frame with it at a
// watcher, through the whole local system, and at the same time the delay of the
// table's stream alone.
package delay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/test/e2e/host"
)

// System is a running system whose AGENTS contain the agent's Config.
type System struct {
	URL          string // of the HTTP API
	WebSocketURL string
	DynamoDB     string // of the engine
	Table        string
	Agent        *Agent
}

// Scenario is a number of sessions and their watchers. All sessions have a run at
// the same time.
type Scenario struct {
	Name     string
	Sessions int
	Watchers int           // of each session, with a connection each
	Tokens   int           // of each run
	Every    time.Duration // between two tokens of a run
	// External has agents of external runs push each token with its own request,
	// instead of a worker per run that reads the agent's stream.
	External bool
}

// Result is the measurement of a scenario.
type Result struct {
	Scenario

	Token  Times // from an agent's token to a watcher's frame
	Stream Times // from a put to its record in the stream
}

const (
	// atOnce limits the concurrency of the preparation.
	atOnce = 8
	// slack is the time allowed for tokens beyond their pace.
	slack = 2 * time.Minute
)

var errOverdue = errors.New("the tokens did not reach all watchers in time")

// Measure runs a scenario; no other may run in the system at the same time.
func Measure(ctx context.Context, sys System, s Scenario) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(s.Tokens)*s.Every+slack, errOverdue)
	defer cancel()
	m := &measurement{System: sys, Scenario: s}
	result, err := m.measure(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("measure %s: %w", s.Name, errors.Join(err, context.Cause(ctx)))
	}
	return result, nil
}

type measurement struct {
	System
	Scenario

	token    string
	sessions []string
	watchers []*watcher
}

func (m *measurement) measure(ctx context.Context) (Result, error) {
	var err error
	if m.token, err = host.Token(ctx, m.URL, "bench-"+uuid.NewString()); err != nil {
		return Result{}, err
	}
	defer m.close()
	if err := m.prepare(ctx); err != nil {
		return Result{}, err
	}
	probing, stop := context.WithCancel(ctx)
	defer stop()
	probe, err := startProbe(probing, m.DynamoDB, m.Table)
	if err != nil {
		return Result{}, err
	}
	m.Agent.Perform(m.Sessions, m.Tokens, m.Every)
	if err := m.play(ctx); err != nil {
		return Result{}, err
	}
	stop()
	stream, err := probe.result()
	result := Result{Scenario: m.Scenario, Stream: stream}
	for _, w := range m.watchers {
		result.Token = append(result.Token, w.took...)
	}
	return result, err
}

// prepare makes the sessions and subscribes their watchers.
func (m *measurement) prepare(ctx context.Context) error {
	m.sessions = make([]string, m.Sessions)
	m.watchers = make([]*watcher, m.Sessions*m.Watchers)
	creating, creatingCtx := limited(ctx)
	for i := range m.sessions {
		m.sessions[i] = uuid.NewString()
		creating.Go(func() error {
			_, err := m.post(creatingCtx, "/sessions", map[string]any{"id": m.sessions[i], "agent": agentName})
			return err
		})
	}
	if err := creating.Wait(); err != nil {
		return err
	}
	connecting, connectingCtx := limited(ctx)
	for i := range m.watchers {
		connecting.Go(func() (err error) {
			m.watchers[i], err = watch(connectingCtx, m.WebSocketURL, m.token, m.sessions[i%m.Sessions], m.Tokens)
			return err
		})
	}
	return connecting.Wait()
}

// play starts the agents and waits until every watcher has every token.
func (m *measurement) play(ctx context.Context) error {
	playing, ctx := errgroup.WithContext(ctx)
	for _, w := range m.watchers {
		playing.Go(func() error { return w.read(ctx) })
	}
	playing.Go(func() error {
		runs, err := m.start(ctx)
		if err != nil || !m.External {
			return err
		}
		for i, id := range runs {
			playing.Go(func() error { return m.push(ctx, m.sessions[i], id) })
		}
		return nil
	})
	return playing.Wait()
}

func (m *measurement) close() {
	for _, w := range m.watchers {
		if w != nil {
			w.close()
		}
	}
}

// limited returns a group with limited concurrency.
func limited(ctx context.Context) (*errgroup.Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	return group, ctx
}
