package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/devclock"
	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/local/identity"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/queue/feed"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/schedule"
	"github.com/rethread/rethread/infra/local/stream"
	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/shared/base/clock"
)

const devPrefix = "/dev"

var (
	errNotBuilt    = errors.New("functions are not built: run `make build`")
	errUnsupported = errors.New("the local host does not support this part of the template")
)

// load reads the template, with local addresses and the local issuer as its
// parameters, and checks that every function is built.
func (s *System) load(_ context.Context) error {
	issuer, err := identity.New(s.URL()+devPrefix, audience, s.path(s.opts.Data), s.clock.Now)
	if err != nil {
		return err
	}
	parameters, err := s.parameters()
	if err != nil {
		return err
	}
	template, err := samtemplate.Load(s.path(s.opts.Template), samtemplate.Options{
		Parameters: parameters, Defaults: s.defaults(), Region: table.Region, Account: account,
	})
	if err != nil {
		return err
	}
	s.issuer, s.keys, s.template = issuer, s.opts.SignIn.keys(issuer), template
	return s.check()
}

// setClock goes on with the clock of the stored data, whose times would otherwise be in
// the future.
func (s *System) setClock(ctx context.Context) (err error) {
	folder := s.path(s.opts.Data)
	if folder == "" {
		if s.scratch, err = os.MkdirTemp("", "rethread-"); err != nil {
			return fmt.Errorf("make a folder for the clock: %w", err)
		}
		folder = s.scratch
	}
	s.clock = devclock.New(folder)
	ahead, err := s.clock.Ahead()
	if ahead > 0 {
		s.opts.Log.WarnContext(ctx, "the clock is ahead of the machine's, as it was when this data was last used", "by", ahead)
	}
	return err
}

func (s *System) check() error {
	if len(s.template.HTTPAPIs) != 1 {
		return fmt.Errorf("%w: %d HTTP APIs, want one", errUnsupported, len(s.template.HTTPAPIs))
	}
	if n := len(s.template.WebSocketAPIs); n > 1 {
		return fmt.Errorf("%w: %d WebSocket APIs, want at most one", errUnsupported, n)
	}
	var missing []string
	for _, f := range s.template.Functions {
		if binary := s.binary(f); !isFile(binary) {
			missing = append(missing, binary)
		}
	}
	if missing != nil {
		return fmt.Errorf("%w; missing: %s", errNotBuilt, strings.Join(missing, ", "))
	}
	return nil
}

func (s *System) startEngine(ctx context.Context) error {
	if s.opts.DynamoDBEndpoint != "" {
		s.database = s.opts.DynamoDBEndpoint
		return nil
	}
	engine, err := dynamodblocal.Start(ctx, dynamodblocal.Options{
		DataDir: s.path(s.opts.Data), Root: s.opts.Root, Log: s.opts.Log,
	})
	if err != nil {
		return err
	}
	s.engine, s.database = engine, engine.Endpoint()
	return nil
}

func (s *System) makeTables(ctx context.Context) error {
	client := table.NewClient(s.database, s.opts.DynamoDBKey)
	for _, definition := range s.template.Tables {
		if _, err := table.Ensure(ctx, client, definition); err != nil {
			return fmt.Errorf("DynamoDB at %s: %w", s.database, err)
		}
	}
	return nil
}

func (s *System) startFunctions(ctx context.Context) error {
	var definitions []lambda.Definition
	for _, f := range s.template.Functions {
		f.Environment = s.localize(f.Environment)
		definitions = append(definitions, lambda.Definition{Function: f, Binary: s.binary(f)})
	}
	lambdas, err := lambda.Start(ctx, lambda.Options{
		Functions: definitions, Region: table.Region, Account: account, Destinations: s.queues.set,
		Environment: s.environment(), Concurrency: s.opts.Concurrency,
		Mappings: s.mappings,
		Guard:    func(api http.Handler) http.Handler { return s.guard.Protect(api, "lambda") },
		Output:   s.opts.Output, Log: s.opts.Log,
	})
	s.lambdas = lambdas
	return err
}

// environment is the local part of the functions' environment.
func (s *System) environment() map[string]string {
	out := map[string]string{
		"AWS_ENDPOINT_URL":             s.guard.url, // for services that are not emulated: no call leaves this machine
		"AWS_ENDPOINT_URL_DYNAMODB":    s.guard.url,
		"AWS_ENDPOINT_URL_SQS":         s.queues.endpoint,
		"AWS_ENDPOINT_URL_EVENTBRIDGE": s.buses.endpoint,
		"AWS_ENDPOINT_URL_SSM":         s.parameterStore.endpoint,
		clock.Variable:                 s.clock.File,
		"OUTBOUND_ALLOW_LOOPBACK":      "true", // agents and receivers that users configure run on this machine
	}
	if !s.opts.SignIn.configured() {
		out["DEV_TOKEN_URL"] = devPrefix + "/token"
	}
	return out
}

func (s *System) startSources(ctx context.Context) error {
	schedules, err := schedule.New(schedule.Options{
		Functions: s.template.Functions, Invoker: s.lambdas, Region: table.Region, Account: account, After: time.After,
	})
	if err != nil {
		return err
	}
	streams, err := s.openStreams(ctx)
	if err != nil {
		return err
	}
	messages, err := feed.New(feed.Options{
		Functions: s.template.Functions, Queues: s.queues.set, Invoker: s.lambdas, Region: table.Region, Log: s.opts.Log,
	})
	if err != nil {
		return err
	}
	s.sources = append(s.sources, schedules, streams, messages)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	for _, source := range s.sources {
		s.running.Go(func() {
			if err := source.Run(running); err != nil && running.Err() == nil {
				s.fail(err)
			}
		})
	}
	return nil
}

// openStreams sets where the functions start to read: everything written from now
// on reaches them.
func (s *System) openStreams(ctx context.Context) (*stream.Source, error) {
	checkpoints := ""
	if s.opts.Data != "" {
		checkpoints = filepath.Join(s.path(s.opts.Data), "streams.json")
	}
	return stream.New(ctx, stream.Options{
		Functions: s.template.Functions, Tables: s.template.Tables, Invoker: s.lambdas, Destinations: s.queues.set,
		Region: table.Region, Account: account, Checkpoints: checkpoints, Log: s.opts.Log,
		Open: func(ctx context.Context, name string) (stream.Log, error) {
			return reader.Open(ctx, reader.Options{
				Endpoint: s.database, Credentials: table.Credentials(s.opts.DynamoDBKey), Table: name, Region: table.Region, Account: account,
				Writes: &s.guard.writes,
			})
		},
	})
}

func (s *System) startGateway(ctx context.Context) error {
	if err := s.startWebSocket(ctx); err != nil {
		return err
	}
	ending := make(chan struct{})
	handler, err := s.handler(ending)
	if err != nil {
		return err
	}
	s.server = &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	s.server.RegisterOnShutdown(sync.OnceFunc(func() { close(ending) }))
	s.running.Go(func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve HTTP: %w", err))
		}
	})
	return nil
}

// binary is the path of a built function: functions/<name>/ becomes
// <bin>/<name>/bootstrap.
func (s *System) binary(f samtemplate.Function) string {
	return filepath.Join(s.path(s.opts.Bin), path.Base(f.CodeURI), "bootstrap")
}

// path resolves a relative path against the root; an empty one stays empty.
func (s *System) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.opts.Root, name)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
