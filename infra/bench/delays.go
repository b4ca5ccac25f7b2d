package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/rethread/rethread/infra/bench/delay"
	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

const readHeaderTimeout = 10 * time.Second

// scenarios are paced so that two cores can run all processes. A worker occupies a
// process as long as its run lasts: 200 concurrent runs are external ones.
func scenarios() []delay.Scenario {
	return []delay.Scenario{
		{Name: "1 session, 1 watcher", Sessions: 1, Watchers: 1, Tokens: 60, Every: 250 * time.Millisecond},
		{Name: "1 session, 1 watcher, as fast as models speak", Sessions: 1, Watchers: 1, Tokens: 500, Every: 25 * time.Millisecond},
		{Name: "1 session, 200 watchers", Sessions: 1, Watchers: 200, Tokens: 30, Every: 500 * time.Millisecond},
		{Name: "200 sessions, 1 watcher each", Sessions: 200, Watchers: 1, Tokens: 6, Every: 4 * time.Second, External: true},
	}
}

// delays measures the delay of tokens to their watchers, each scenario in a system
// of its own: the engine's streams slow down as they grow.
func delays(ctx context.Context, out io.Writer, root, table string) error {
	var results []delay.Result
	for _, s := range scenarios() {
		result, err := delayOf(ctx, root, table, s)
		if err != nil {
			return err
		}
		results = append(results, result)
	}
	return delay.Report(out, results)
}

func delayOf(ctx context.Context, root, table string, s delay.Scenario) (result delay.Result, err error) {
	agent := &delay.Agent{}
	url, stop, err := serve(ctx, agent)
	if err != nil {
		return delay.Result{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	config, err := agent.Config(url)
	if err != nil {
		return delay.Result{}, err
	}
	engine, err := dynamodblocal.Start(ctx, dynamodblocal.Options{Root: root})
	if err != nil {
		return delay.Result{}, err
	}
	defer engine.Stop()
	log := &host.Tail{}
	h, err := host.Start(ctx, host.Options{
		Binary: filepath.Join(root, "build", "rethread-local"), Root: root, Output: log,
		Env: []string{"AGENTS=" + config, "DYNAMODB_ENDPOINT=" + engine.Endpoint(), "MAX_RUNS=0"},
	})
	if err != nil {
		return delay.Result{}, fmt.Errorf("%w\n%s", err, log)
	}
	defer func() { err = errors.Join(err, h.Stop()) }()
	result, err = delay.Measure(ctx, delay.System{
		URL: h.URL, WebSocketURL: h.WebSocketURL, DynamoDB: engine.Endpoint(), Table: table, Agent: agent,
	}, s)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, log)
	}
	return result, err
}

// serve serves an agent at url until stop is called.
func serve(ctx context.Context, agent http.Handler) (url string, stop func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for the agent: %w", err)
	}
	server := &http.Server{Handler: agent, ReadHeaderTimeout: readHeaderTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() error {
		closed := server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(closed, fmt.Errorf("serve the agent: %w", err))
		}
		return closed
	}, nil
}
