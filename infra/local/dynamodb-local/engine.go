// Package dynamodblocal runs DynamoDB Local, AWS's own engine for development,
// as a child process. Maven resolves its jars once; no Docker is involved.
package dynamodblocal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rethread/rethread/infra/local/repo"
)

// Another program can take a free port between its choice and the start of the
// engine, so Start tries several ports.
const freePortTries = 3

const (
	startTimeout = 5 * time.Minute
	pingInterval = 20 * time.Millisecond
	stopGrace    = 5 * time.Second
)

// Options configure the engine.
type Options struct {
	// DataDir holds the tables between runs; empty means in memory.
	DataDir string
	// Separate gives each access key its own database in each region. Requests to one
	// database run one after another, and do not wait for those to another.
	Separate bool
	// Port to listen on; 0 means a free one.
	Port int
	// Root of the repository; empty means that of the working directory.
	Root string
	// Log reports the slow first step, the download of the engine; nil discards it.
	Log *slog.Logger
	// Output receives what the engine prints; nil means that it only appears in
	// errors.
	Output io.Writer
}

// Engine is a running DynamoDB Local.
type Engine struct {
	endpoint string
	process  *process
	release  func()
}

// Start runs the engine and returns once it answers requests. The engine outlives
// ctx; it ends with Stop or with this program, even if that crashes.
func Start(ctx context.Context, opts Options) (*Engine, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Root == "" {
		root, err := repo.Root("")
		if err != nil {
			return nil, fmt.Errorf("start DynamoDB Local: %w", err)
		}
		opts.Root = root
	}
	engine, err := start(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("start DynamoDB Local: %w", err)
	}
	return engine, nil
}

func start(ctx context.Context, opts Options) (*Engine, error) {
	java, err := findJava()
	if err != nil {
		return nil, err
	}
	jars, err := resolveJars(ctx, opts.Root, opts.Log)
	if err != nil {
		return nil, err
	}
	release, err := claimDataDir(opts.DataDir)
	if err != nil {
		return nil, err
	}
	engine, err := launchOnPort(ctx, java, jars, opts)
	if err != nil {
		release()
		return nil, err
	}
	engine.release = release
	return engine, nil
}

// Endpoint is the engine's base URL.
func (e *Engine) Endpoint() string { return e.endpoint }

// Done is closed when the engine has ended, for whatever reason.
func (e *Engine) Done() <-chan struct{} { return e.process.done }

// Stop ends the engine and waits until it has exited.
func (e *Engine) Stop() {
	e.process.stop(stopGrace)
	e.release()
}

func launchOnPort(ctx context.Context, java, jars string, opts Options) (*Engine, error) {
	if opts.Port != 0 {
		if err := checkPort(ctx, opts.Port); err != nil {
			return nil, err
		}
		return launch(ctx, java, jars, opts, opts.Port)
	}
	var lastErr error
	for range freePortTries {
		port, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		engine, err := launch(ctx, java, jars, opts, port)
		if err == nil {
			return engine, nil
		}
		lastErr = err
		if !errors.Is(err, ErrPortTaken) {
			break
		}
	}
	return nil, lastErr
}

func launch(ctx context.Context, java, jars string, opts Options, port int) (*Engine, error) {
	child, err := startProcess(ctx, append([]string{java}, arguments(jars, opts, port)...), opts.Output)
	if err != nil {
		return nil, err
	}
	engine := &Engine{endpoint: "http://127.0.0.1:" + strconv.Itoa(port), process: child}
	if err := engine.waitReady(ctx); err != nil {
		child.stop(0)
		return nil, err
	}
	return engine, nil
}

// arguments disables Java's second compiler: in the few seconds that most engines
// live it takes more time than it saves, a third of the total in tests.
func arguments(jars string, opts Options, port int) []string {
	args := []string{
		"-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.library.path=" + jars, "-cp", filepath.Join(jars, "*"),
		"software.amazon.dynamodb.services.local.main.ServerRunner",
		"-port", strconv.Itoa(port), "-disableTelemetry",
	}
	if !opts.Separate {
		args = append(args, "-sharedDb")
	}
	if opts.DataDir == "" {
		return append(args, "-inMemory")
	}
	return append(args, "-dbPath", opts.DataDir)
}

func (e *Engine) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-e.process.done:
			return e.process.diagnose(context.WithoutCancel(ctx))
		case <-ctx.Done():
			return fmt.Errorf("no answer from %s: %w", e.endpoint, ctx.Err())
		case <-ticker.C:
			if e.answers(ctx) {
				return nil
			}
		}
	}
}

// answers reports whether the engine accepts requests: it refuses an unsigned
// request with an AWS request id in the header.
func (e *Engine) answers(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.endpoint, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.Header.Get("x-amzn-RequestId") != ""
}
