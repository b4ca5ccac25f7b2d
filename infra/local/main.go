// Command local runs the whole system of template.yaml on this machine: `make
// run`, or go run ./infra/local after `make build`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/rethread/rethread/infra/local/host"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/repo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	default:
		_, _ = fmt.Fprintln(os.Stderr, "rethread:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	opts, err := readOptions(args, out)
	if err != nil {
		return err
	}
	system, err := host.Start(ctx, opts)
	if err != nil {
		return err
	}
	defer system.Close() //nolint:contextcheck // it runs because ctx has ended
	greet(out, system, opts)
	return system.Wait(ctx)
}

func readOptions(args []string, out io.Writer) (host.Options, error) {
	opts := host.Options{
		DynamoDBEndpoint: os.Getenv("DYNAMODB_ENDPOINT"),
		DynamoDBKey:      os.Getenv("DYNAMODB_ACCESS_KEY"),
		LogLevel:         os.Getenv("LOG_LEVEL"),
		LogAgentErrors:   os.Getenv("LOG_AGENT_ERRORS"),
		Metrics:          os.Getenv("METRICS"),
		OtlpEndpoint:     os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"),
		OtlpHeaders:      os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"),
		Agents:           os.Getenv("AGENTS"),
		AgentAPIKey:      os.Getenv("AGENT_API_KEY"),
		AgentSecrets:     env("AGENT_SECRETS_FILE", "agent-secrets.json"),
		RunLease:         os.Getenv("RUN_LEASE"),
		Parameters: map[string]string{
			"Retention": os.Getenv("RETENTION"), "MaxSessions": os.Getenv("MAX_SESSIONS"), "MaxRuns": os.Getenv("MAX_RUNS"),
			"MaxBytes": os.Getenv("MAX_BYTES"), "KeepAgentRequests": os.Getenv("KEEP_AGENT_REQUESTS"), "MaxStreams": os.Getenv("MAX_STREAMS"), "StreamTurn": os.Getenv("STREAM_TURN"),
			"RunnerConcurrency": os.Getenv("RUNNER_CONCURRENCY"), "StreamConcurrency": os.Getenv("STREAM_CONCURRENCY"),
			"DeliveryConcurrency": os.Getenv("DELIVERY_CONCURRENCY"), "BackgroundConcurrency": os.Getenv("BACKGROUND_CONCURRENCY"),
			"RequestConcurrency": os.Getenv("REQUEST_CONCURRENCY"), "PostRate": os.Getenv("POST_RATE"),
			"WatchConcurrency": os.Getenv("WATCH_CONCURRENCY"),
			"AgentsParameter":  os.Getenv("AGENTS_PARAMETER"), "AgentApiKeyParameter": os.Getenv("AGENT_API_KEY_PARAMETER"),
			"AgentSecretsPrefix":   os.Getenv("AGENT_SECRETS_PREFIX"),
			"OtlpHeadersParameter": os.Getenv("OTEL_EXPORTER_OTLP_HEADERS_PARAMETER"),
			"DeliveryBackoff":      os.Getenv("DELIVERY_BACKOFF"),
			"AdminScope":           os.Getenv("ADMIN_SCOPE"), "AdminClaim": os.Getenv("ADMIN_CLAIM"),
			"ServiceScope": os.Getenv("SERVICE_SCOPE"), "ServiceClaim": os.Getenv("SERVICE_CLAIM"),
			"AppStateWriters": os.Getenv("APP_STATE_WRITERS"),
			"ConsolePrices":   os.Getenv("CONSOLE_PRICES"),
			"TraceUrl":        os.Getenv("TRACE_URL"),
		},
		SignIn: host.SignIn{
			Issuer: os.Getenv("JWT_ISSUER"), Audience: os.Getenv("JWT_AUDIENCE"),
			ClientID: os.Getenv("CONSOLE_CLIENT_ID"), Scope: os.Getenv("CONSOLE_SCOPE"),
		},
		Output: out,
		Log:    slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	flags := flag.NewFlagSet("local", flag.ContinueOnError)
	flags.StringVar(&opts.HTTPAddress, "http", env("RETHREAD_HTTP_ADDR", "127.0.0.1:3000"), "address of the HTTP API")
	flags.StringVar(&opts.Data, "data", "build/dynamodb-data", "folder of the stored data; empty means in memory")
	flags.StringVar(&opts.Bin, "bin", "build/functions", "folder of the functions' binaries")
	flags.StringVar(&opts.Template, "template", "template.yaml", "the template to run")
	flags.StringVar(&opts.Root, "root", "", "root of the repository; empty means that of the working directory")
	flags.StringVar(&opts.Grants, "grants", "", "file to which the uses of each permission of the functions are appended at the end")
	flags.IntVar(&opts.Concurrency, "concurrency", lambda.DefaultConcurrency, "concurrent invocations, over all functions")
	flags.StringVar(&opts.WebSocketAddress, "ws", env("RETHREAD_WS_ADDR", "127.0.0.1:3001"), "address of the WebSocket API")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	var err error
	if opts.QueueLimit, err = strconv.Atoi(env("RETHREAD_QUEUE_LIMIT", "0")); err != nil {
		return opts, fmt.Errorf("RETHREAD_QUEUE_LIMIT: %w", err)
	}
	if opts.Root == "" {
		opts.Root, err = repo.Root("")
	}
	return opts, err
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func greet(out io.Writer, system *host.System, opts host.Options) {
	data := opts.Data + " (make clean removes it)"
	if opts.Data == "" {
		data = "in memory"
	}
	if opts.DynamoDBEndpoint != "" {
		data = "in the engine at DYNAMODB_ENDPOINT"
	}
	sockets := system.WebSocketURL()
	if sockets == "" {
		sockets = "none in the template"
	}
	if console := system.ConsoleURL(); console != "" {
		_, _ = fmt.Fprintf(out, "\nOpen %s in a browser\n", console)
	}
	_, _ = fmt.Fprintf(out, `
Rethread answers on %[1]s (Ctrl-C stops it)
  websocket %[5]s
  data      %[2]s
  lambda    %[4]s
  dynamodb  %[3]s
  sqs       %[6]s
  events    %[7]s

Try it:
  TOKEN=$(curl -s %[1]s/dev/token -d '{"user_id": "alice"}' | sed 's/.*"token":"\([^"]*\)".*/\1/')
  SESSION=$(curl -s %[1]s/api/v1/sessions -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name": "first"}' | sed 's/.*"id":"\([^"]*\)".*/\1/')
  curl -sN "%[1]s/api/v1/sessions/$SESSION/watch?token=$TOKEN" &
  curl -s %[1]s/api/v1/sessions/$SESSION/runs -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"input": [{"content": {"parts": [{"text": "Hello"}]}}]}'

`, system.URL(), data, system.DynamoDBEndpoint(), system.LambdaEndpoint(), sockets, system.SQSEndpoint(), system.EventsURL())
}
