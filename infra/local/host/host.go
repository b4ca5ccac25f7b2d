// Package host runs the system of template.yaml on this machine: its table in
// DynamoDB Local, its functions' own binaries, its HTTP API, its queues and its
// schedules.
// What the template lacks is missing here too.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/identity"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/ssm"
	"github.com/rethread/rethread/infra/local/table"
)

const (
	account           = "000000000000"
	audience          = "rethread"
	shutdownGrace     = 3 * time.Second
	readHeaderTimeout = 10 * time.Second
)

var (
	errEngineGone   = errors.New("DynamoDB Local has ended by itself")
	errAddressTaken = errors.New("cannot listen")
)

// Options say what to run and where.
type Options struct {
	// Root of the repository, around which the other paths are found.
	Root string
	// Template, Bin and Data are the template, the folder of the functions'
	// binaries and the folder of the data; an empty Data means in memory.
	Template, Bin, Data string
	// HTTPAddress to listen on; port 0 means a free one.
	HTTPAddress string
	// WebSocketAddress to listen on when the template has a WebSocket API; port 0
	// means a free one.
	WebSocketAddress string
	// DynamoDBEndpoint is an engine that runs already; empty means to start one.
	DynamoDBEndpoint string
	// DynamoDBKey is the access key of this system's database in an engine that keeps
	// one for each key; letters and digits. Empty means table.AccessKey.
	DynamoDBKey string
	// LogLevel for the functions; empty means the template's default.
	LogLevel string
	// Metrics is what functions measure; empty means nothing, as nobody reads it here.
	Metrics string
	// OtlpEndpoint is where functions send traces; empty means nowhere.
	OtlpEndpoint string
	// OtlpHeaders are sent along, name=value, separated by commas.
	OtlpHeaders string
	// Agents are configured beside the demo agent, as docs/agent-protocol.md has
	// it; AgentAPIKey is what they may name as AGENT_API_KEY.
	Agents, AgentAPIKey string
	// SignIn is an identity provider to take tokens of in place of the
	// development issuer.
	SignIn SignIn
	// RunLease is how long a run may be silent; empty means the template's default.
	RunLease string
	// Parameters are further ones of the template, by name; an empty one means the
	// template's default.
	Parameters map[string]string
	// Concurrency is how many invocations may be at work at once; 0 means
	// lambda.DefaultConcurrency.
	Concurrency int
	// QueueLimit is how many messages of a queue may be in flight, and how many of a
	// FIFO queue are looked through for free groups; 0 means as many as of SQS.
	QueueLimit int
	// Grants is a file that is told at the end what each permission of the
	// functions was used for, one iam.Use a line; empty means none.
	Grants string
	// Output gets the access log and what functions print.
	Output io.Writer
	Log    *slog.Logger
}

// Source feeds functions from something other than HTTP: the clock, a table's
// stream, a queue. It runs beside the gateway until ctx ends.
type Source interface {
	Run(ctx context.Context) error
}

// System is what Start has started.
type System struct {
	opts     Options
	template *samtemplate.Template
	listener net.Listener
	address  string
	engine   *dynamodblocal.Engine
	database string
	issuer   *identity.Issuer
	keys     gateway.Keys // of whoever issues the tokens
	demo     *http.Server
	demoURL  string
	guard    *guarded
	lambdas  *lambda.Host
	queues   *queues
	buses    *buses
	held     ssm.Parameters
	manager  *held
	headers  string // of the receiver of traces, as the environment is to have them
	server   *http.Server
	sockets  *sockets // nil when the template has no WebSocket API
	sources  []Source
	running  sync.WaitGroup
	cancel   context.CancelFunc
	failed   chan error
}

// Start runs everything and returns when requests are answered. It outlives ctx;
// Close ends it.
func Start(ctx context.Context, opts Options) (*System, error) {
	opts.DynamoDBKey = cmp.Or(opts.DynamoDBKey, table.AccessKey)
	s := &System{opts: opts, failed: make(chan error, 1)}
	for _, step := range []func(context.Context) error{
		s.listen, s.startDemoAgent, s.load, s.listenWebSocket, s.startEngine, s.makeTables, s.startGuard, s.startQueues,
		s.startBuses, s.startParameters, s.startFunctions, s.startSources, s.startGateway,
	} {
		if err := step(ctx); err != nil {
			s.Close() //nolint:contextcheck // cleaning up must not end with ctx
			return nil, err
		}
	}
	return s, nil
}

// URL is the base address of the HTTP API.
func (s *System) URL() string { return "http://" + s.address }

// WebSocketURL is the address of the WebSocket API; empty when the template has
// none.
func (s *System) WebSocketURL() string {
	if s.sockets == nil {
		return ""
	}
	return "ws://" + s.sockets.address
}

// LambdaEndpoint is where Lambda's Invoke API answers.
func (s *System) LambdaEndpoint() string { return s.lambdas.Endpoint() }

// DynamoDBEndpoint is where the table's engine answers.
func (s *System) DynamoDBEndpoint() string { return s.database }

// Token returns a token of that user.
func (s *System) Token(userID string) (string, error) { return s.issuer.Token(userID, 0) }

// Wait blocks until ctx ends, which is no error, or until a part has failed.
func (s *System) Wait(ctx context.Context) error {
	var ended <-chan struct{}
	if s.engine != nil {
		ended = s.engine.Done()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	case <-ended:
		return errEngineGone
	}
}

// Close ends everything, what depends on others first.
func (s *System) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	if s.sockets != nil {
		s.sockets.close(ctx)
	}
	if s.server != nil {
		if err := s.server.Shutdown(ctx); err != nil {
			_ = s.server.Close() // who still waits is cut off
		}
	}
	if s.listener != nil {
		_ = s.listener.Close() // closed already when the server ran
	}
	if s.cancel != nil {
		s.cancel()
	}
	if s.lambdas != nil {
		s.lambdas.Close()
	}
	if s.queues != nil {
		_ = s.queues.server.Close() // whom it answered is gone
	}
	if s.buses != nil {
		_ = s.buses.server.Close() // as above
	}
	if s.manager != nil {
		_ = s.manager.server.Close() // as above
	}
	if s.guard != nil {
		if err := s.guard.close(s.path(s.opts.Grants)); err != nil {
			s.opts.Log.ErrorContext(ctx, "the functions' calls", "error", err)
		}
	}
	if s.demo != nil {
		_ = s.demo.Close() // as above
	}
	s.running.Wait()
	if s.engine != nil {
		s.engine.Stop()
	}
}

// fail reports the first failure of a part to Wait.
func (s *System) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// listen takes the address before anything slow is started.
func (s *System) listen(ctx context.Context) error {
	listener, err := listen(ctx, s.opts.HTTPAddress, "-http or RETHREAD_HTTP_ADDR")
	if err != nil {
		return err
	}
	s.listener, s.address = listener, publicAddress(listener.Addr())
	return nil
}

// listen opens a port; setting is how a user chooses another.
func listen(ctx context.Context, address, setting string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w on %s: stop the program that uses it, or choose another address with %s: %w",
			errAddressTaken, address, setting, err)
	}
	return listener, nil
}

// publicAddress is how this machine reaches a listener, on whatever interfaces
// it listens.
func publicAddress(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address.String()
	}
	return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
}
