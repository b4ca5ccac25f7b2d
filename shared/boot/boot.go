// Package boot wires a function at its cold start: configuration from the
// environment, a logger, one client of each service, and the adapter between
// Lambda's events and the handlers: requests (http.go, path.go, streaming.go), callers
// (identity.go, authorizer.go), and around each invocation its log line, metrics and trace
// (observe.go and the files named after it, measure.go, capacity.go). Batches of changes
// and messages are handled by package batch; what few functions need is wired in their
// main.go.
package boot

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/rethread/rethread/shared/base/clock"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/tracing"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// maxAttempts is how often the SDK sends a request that is throttled or lost.
const maxAttempts = 6

// Deps holds the dependencies from which functions are wired.
type Deps struct {
	Log   *slog.Logger
	Store *stores.Store
	AWS   aws.Config       // for clients of other services
	Now   func() time.Time // by which stored and given times are judged

	// agents are the agents configured in AGENTS. Only the runner can call them,
	// because only it has the secrets.
	agents agentconfig.Agents
	Lease  time.Duration // of a run
}

// Start runs a function until Lambda stops it: it makes the dependencies once for all
// invocations, and passes invocations to the handler that wire returns. If the
// function cannot be wired, the process exits with status 1, which Lambda reports. A
// function links what its wiring names, so what few functions need is not in this package.
func Start(wire func(Deps) (any, error)) {
	ctx := context.Background()
	deps, err := newDeps(ctx)
	var handler any
	if err == nil {
		handler, err = wire(deps)
	}
	if err != nil {
		slog.ErrorContext(ctx, "the function cannot start", "error", err)
		os.Exit(1)
	}
	serve(deps.Log, handler)
}

func newDeps(ctx context.Context) (Deps, error) {
	log, err := newLogger(os.Getenv("LOG_LEVEL"))
	if err != nil {
		return Deps{}, err
	}
	if err := completeEnvironment(ctx); err != nil {
		return Deps{}, err
	}
	table := os.Getenv("TABLE_NAME")
	if table == "" {
		return Deps{}, fmt.Errorf("the environment variable TABLE_NAME names no table")
	}
	cfg := AWSConfig(os.Getenv)
	cfg.APIOptions = append(cfg.APIOptions, tracing.AWS, ObserveRequests(log))
	names, err := agentNames(os.Getenv(AgentsVariable))
	if err != nil {
		return Deps{}, err
	}
	lease, err := Duration("RUN_LEASE", run.Lease, time.Second)
	if err != nil {
		return Deps{}, err
	}
	kept, err := retention(names)
	if err != nil {
		return Deps{}, err
	}
	limits, err := Quotas(os.Getenv)
	if err != nil {
		return Deps{}, err
	}
	now := clock.New(os.Getenv(clock.Variable))
	return Deps{
		Log: log, AWS: cfg, Now: now, agents: names, Lease: lease,
		Store: stores.New(dynamo.New(dynamodb.NewFromConfig(cfg, engineOptions), table, store.Schema()),
			stores.WithClock(now), stores.WithLogger(log), stores.WithLease(lease), stores.WithRetention(kept), stores.WithOnFailed(names.OnFailed),
			stores.WithQuotas(limits)),
	}, nil
}

// Duration reads a duration from an environment variable; otherwise is the default.
func Duration(variable string, otherwise, least time.Duration) (time.Duration, error) {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least {
		return 0, fmt.Errorf("the environment variable %s must be a duration of at least %s, not %q", variable, least, text)
	}
	return d, nil
}

// engineOptions disables checksums for engines other than AWS's: DynamoDB Local sends
// wrong ones with failed conditions, for which the client would drop the connection.
func engineOptions(o *dynamodb.Options) {
	o.DisableValidateResponseChecksum = o.BaseEndpoint != nil
}

func newLogger(level string) (*slog.Logger, error) {
	var l slog.Level
	if level != "" {
		if err := l.UnmarshalText([]byte(level)); err != nil {
			return nil, fmt.Errorf("the environment variable LOG_LEVEL: %w", err)
		}
	}
	return logs.New(os.Stdout, l), nil
}
