// Package boot wires a function at its cold start: configuration from the
// environment, a logger, one client of each service, and the adapter between
// Lambda's events and the handlers.
package boot

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/rethread/rethread/shared/dynamostore"
)

// maxAttempts is how often the SDK tries a request that was throttled or lost.
const maxAttempts = 6

// Deps is what functions are wired from.
type Deps struct {
	Log   *slog.Logger
	Store *dynamostore.Store
}

// Start runs a function until Lambda stops it: it makes the dependencies, once
// for all invocations, and hands invocations to the handler that wire returns.
// A function that cannot be wired ends with status 1, which Lambda reports.
func Start(wire func(Deps) any) {
	ctx := context.Background()
	deps, err := newDeps(ctx)
	if err != nil {
		slog.ErrorContext(ctx, "the function cannot start", "error", err)
		os.Exit(1)
	}
	lambda.StartWithOptions(wire(deps), lambda.WithContext(ctx))
}

func newDeps(ctx context.Context) (Deps, error) {
	log, err := newLogger(os.Getenv("LOG_LEVEL"))
	if err != nil {
		return Deps{}, err
	}
	table := os.Getenv("TABLE_NAME")
	if table == "" {
		return Deps{}, fmt.Errorf("the environment variable TABLE_NAME names no table")
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryer(func() aws.Retryer {
		return retry.AddWithMaxAttempts(retry.NewStandard(), maxAttempts)
	}))
	if err != nil {
		return Deps{}, fmt.Errorf("load the AWS configuration: %w", err)
	}
	return Deps{
		Log:   log,
		Store: dynamostore.New(dynamodb.NewFromConfig(cfg, engineOptions), table, dynamostore.WithLogger(log)),
	}, nil
}

// engineOptions eases the client where it talks to another engine than AWS's:
// DynamoDB Local sends no right checksum with a failed condition, over which
// the client would drop the connection.
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
	return slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: l})), nil
}
