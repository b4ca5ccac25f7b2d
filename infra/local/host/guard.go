package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/local/iam"
	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/infra/local/table"
)

// engineProxy is a proxy in front of the table's engine that holds functions to their
// policies. The other services' listeners do the same for themselves.
type engineProxy struct {
	*iam.Guard

	url    string // of the proxy
	server *http.Server
	idle   func() // closes connections to the engine
	writes reader.Writes
}

// startGuard starts the proxy.
func (s *System) startGuard(ctx context.Context) error {
	engine, idle, err := iam.Forward(s.database, s.opts.DynamoDBKey)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the functions' calls: %w", err)
	}
	g := &engineProxy{
		Guard: iam.New(iam.Options{
			Functions: s.template.Functions, Tables: s.template.Tables, WebSocketAPIs: s.template.WebSocketAPIs,
			Region: table.Region, Account: account, Log: s.opts.Log,
		}),
		url: "http://" + listener.Addr().String(), idle: idle,
	}
	g.server = &http.Server{Handler: g.Protect(g.announce(engine), "dynamodb"), ReadHeaderTimeout: readHeaderTimeout}
	s.guard = g
	s.running.Go(func() {
		if err := g.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve the functions' calls: %w", err))
		}
	})
	return nil
}

// announce announces the writes that a handler has passed on, successful or not.
func (g *engineProxy) announce(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if !slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}, operation) {
			next.ServeHTTP(rw, r)
			return
		}
		defer g.writes.Announce()
		next.ServeHTTP(rw, r)
	})
}

// close stops the proxy. It appends the uses of each permission to a file, one
// iam.Use a line, unless the name is empty.
func (g *engineProxy) close(file string) error {
	closed := g.server.Close()
	g.idle()
	if file == "" {
		return closed
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the developer names the file
	if err != nil {
		return errors.Join(closed, fmt.Errorf("write the uses of permissions: %w", err))
	}
	lines := json.NewEncoder(out)
	for _, use := range g.Uses() {
		err = errors.Join(err, lines.Encode(use))
	}
	return errors.Join(closed, err, out.Close())
}
