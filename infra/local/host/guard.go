package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/rethread/rethread/infra/local/iam"
	"github.com/rethread/rethread/infra/local/table"
)

// guarded is the door to the table's engine through which functions go, so that
// they are held to their policies. The doors to the other services are their own
// listeners.
type guarded struct {
	*iam.Guard

	url    string // of the door
	server *http.Server
	idle   func() // closes connections to the engine
}

// startGuard opens the door.
func (s *System) startGuard(ctx context.Context) error {
	engine, idle, err := iam.Forward(s.database, s.opts.DynamoDBKey)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the functions' calls: %w", err)
	}
	g := &guarded{
		Guard: iam.New(iam.Options{
			Functions: s.template.Functions, Tables: s.template.Tables, WebSocketAPIs: s.template.WebSocketAPIs,
			Region: table.Region, Account: account, Log: s.opts.Log,
		}),
		url: "http://" + listener.Addr().String(), idle: idle,
	}
	g.server = &http.Server{Handler: g.Protect(engine, "dynamodb"), ReadHeaderTimeout: readHeaderTimeout}
	s.guard = g
	s.running.Go(func() {
		if err := g.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve the functions' calls: %w", err))
		}
	})
	return nil
}

// close shuts the door, and writes what each permission was used for to the end
// of a file, one iam.Use a line, unless that is empty.
func (g *guarded) close(file string) error {
	closed := g.server.Close()
	g.idle()
	if file == "" {
		return closed
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the developer names it
	if err != nil {
		return errors.Join(closed, fmt.Errorf("write what permissions were used for: %w", err))
	}
	lines := json.NewEncoder(out)
	for _, use := range g.Uses() {
		err = errors.Join(err, lines.Encode(use))
	}
	return errors.Join(closed, err, out.Close())
}
