// Package host runs the system of template.yaml on this machine: its table in
// DynamoDB Local, its functions' own binaries, its HTTP API, its queues and its
// schedules. A resource or permission that the template lacks is missing here,
// too.
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
	"os"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/devclock"
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
	errEngineExited = errors.New("DynamoDB Local exited unexpectedly; restart to continue")
	errAddressTaken = errors.New("cannot listen")
)

// Options configure the system.
type Options struct {
	// Root of the repository; relative paths are resolved against it.
	Root string
	// Template, Bin and Data are the paths of the template, the functions' binaries
	// and the stored data; an empty Data means in memory.
	Template, Bin, Data string
	// HTTPAddress to listen on; port 0 means a free one.
	HTTPAddress string
	// WebSocketAddress to listen on when the template has a WebSocket API; port 0
	// means a free one.
	WebSocketAddress string
	// DynamoDBEndpoint is a running engine; empty means to start one.
	DynamoDBEndpoint string
	// DynamoDBKey is the access key of this system's database in an engine that keeps
	// one for each key; letters and digits. Empty means table.AccessKey.
	DynamoDBKey string
	// LogLevel for the functions; empty means the template's default.
	LogLevel string
	// LogAgentErrors is "false" if the runner does not log why a run failed in the words
	// of its agent, which a developer wants to see; empty means "true".
	LogAgentErrors string
	// Metrics selects what functions measure; empty means nothing, since no local tool
	// reads it.
	Metrics string
	// OtlpEndpoint is where functions send traces; empty means that they send none.
	OtlpEndpoint string
	// OtlpHeaders are sent with the traces: name=value, separated by commas.
	OtlpHeaders string
	// Agents are configured beside the demo agent, as docs/agent-protocol.md
	// describes; AgentAPIKey is the value of AGENT_API_KEY in them.
	Agents, AgentAPIKey string
	// SignIn is an identity provider whose tokens are accepted in place of the
	// development issuer's.
	SignIn SignIn
	// RunLease is how long a run may be silent; empty means the template's default.
	RunLease string
	// AgentSecrets is the file that stands for Systems Manager: agents' secrets by the names
	// of their parameters. "" means none.
	AgentSecrets string
	// Parameters are more parameters of the template, by name; an empty value means
	// the template's default.
	Parameters map[string]string
	// Concurrency is the number of concurrent invocations; 0 means
	// lambda.DefaultConcurrency.
	Concurrency int
	// QueueLimit is how many messages of a queue may be in flight, and how many of a
	// FIFO queue are searched for groups that can be received; 0 means SQS's limits.
	QueueLimit int
	// Grants is a file to which the uses of each permission of the functions are
	// appended at the end, one iam.Use a line; empty means none.
	Grants string
	// Output receives the access log and what functions print.
	Output io.Writer
	Log    *slog.Logger
}

// Source invokes functions for something other than HTTP: the clock, a table's
// stream, a queue. It runs beside the gateway until ctx ends.
type Source interface {
	Run(ctx context.Context) error
}

// System is a running local system.
type System struct {
	opts           Options
	template       *samtemplate.Template
	listener       net.Listener
	address        string
	engine         *dynamodblocal.Engine
	database       string
	clock          *devclock.Clock
	scratch        string // folder of this process, removed at the end; "" if there is none
	issuer         *identity.Issuer
	keys           gateway.Keys // of the issuer of tokens
	demo           *http.Server
	demoURL        string
	guard          *engineProxy
	lambdas        *lambda.Host
	queues         *queues
	buses          *buses
	ssmParameters  ssm.Parameters
	parameterStore *parameterStore
	headers        string // of requests to the trace receiver, in the form that functions read from the environment
	server         *http.Server
	sockets        *sockets // nil when the template has no WebSocket API
	sources        []Source
	running        sync.WaitGroup
	cancel         context.CancelFunc
	failed         chan error
}

// Start starts everything and returns once requests are answered. The system
// outlives ctx; Close ends it.
func Start(ctx context.Context, opts Options) (*System, error) {
	opts.DynamoDBKey = cmp.Or(opts.DynamoDBKey, table.AccessKey)
	s := &System{opts: opts, failed: make(chan error, 1)}
	for _, step := range []func(context.Context) error{
		s.listen, s.startDemoAgent, s.setClock, s.load, s.listenWebSocket, s.startEngine, s.makeTables, s.startGuard, s.startQueues,
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

// WebSocketURL is the address of the WebSocket API; empty if the template has
// none.
func (s *System) WebSocketURL() string {
	if s.sockets == nil {
		return ""
	}
	return "ws://" + s.sockets.address
}

// LambdaEndpoint is the address of Lambda's Invoke API.
func (s *System) LambdaEndpoint() string { return s.lambdas.Endpoint() }

// DynamoDBEndpoint is the address of the table's engine.
func (s *System) DynamoDBEndpoint() string { return s.database }

// Token returns a token for the user.
func (s *System) Token(userID string) (string, error) { return s.issuer.Token(userID, 0) }

// Wait blocks until ctx ends, which is no error, or a part fails.
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
		return errEngineExited
	}
}

// Close ends everything, parts before those that they depend on.
func (s *System) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	if s.sockets != nil {
		s.sockets.close(ctx)
	}
	if s.server != nil {
		if err := s.server.Shutdown(ctx); err != nil {
			_ = s.server.Close() // cuts off requests that are still waiting
		}
	}
	if s.listener != nil {
		_ = s.listener.Close() // closed already if the server ran
	}
	if s.cancel != nil {
		s.cancel()
	}
	if s.lambdas != nil {
		s.lambdas.Close()
	}
	if s.queues != nil {
		_ = s.queues.server.Close() // its callers have ended
	}
	if s.buses != nil {
		_ = s.buses.server.Close() // as above
	}
	if s.parameterStore != nil {
		_ = s.parameterStore.server.Close() // as above
	}
	if s.guard != nil {
		if err := s.guard.close(s.path(s.opts.Grants)); err != nil {
			s.opts.Log.ErrorContext(ctx, "failed to close the proxy of the table or to write the uses of permissions", "error", err)
		}
	}
	if s.demo != nil {
		_ = s.demo.Close() // as above
	}
	s.running.Wait()
	if s.engine != nil {
		s.engine.Stop()
	}
	if err := os.RemoveAll(s.scratch); err != nil {
		s.opts.Log.ErrorContext(ctx, "failed to remove a folder", "error", err)
	}
}

// fail reports the first failure of a part to Wait.
func (s *System) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// listen reserves the address before anything slow starts.
func (s *System) listen(ctx context.Context) error {
	listener, err := listen(ctx, s.opts.HTTPAddress, "-http or RETHREAD_HTTP_ADDR")
	if err != nil {
		return err
	}
	s.listener, s.address = listener, publicAddress(listener.Addr())
	return nil
}

// listen opens a port; setting is what a user sets to choose another.
func listen(ctx context.Context, address, setting string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w on %s: stop the program that uses it, or choose another address with %s: %w",
			errAddressTaken, address, setting, err)
	}
	return listener, nil
}

// publicAddress returns how this machine reaches a listener, whatever interfaces
// it listens on.
func publicAddress(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address.String()
	}
	return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
}
