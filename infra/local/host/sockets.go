package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/infra/local/websocket"
)

// sockets is the WebSocket API and its listener.
type sockets struct {
	listener net.Listener
	address  string
	api      *websocket.API // nil until the functions run
	server   *http.Server   // as above
}

// listenWebSocket reserves the WebSocket API's address, if the template has one,
// before anything slow starts.
func (s *System) listenWebSocket(ctx context.Context) error {
	if len(s.template.WebSocketAPIs) == 0 {
		return nil
	}
	listener, err := listen(ctx, s.opts.WebSocketAddress, "-ws or RETHREAD_WS_ADDR")
	if err != nil {
		return err
	}
	s.sockets = &sockets{listener: listener, address: publicAddress(listener.Addr())}
	return nil
}

func (s *System) startWebSocket(ctx context.Context) error {
	if s.sockets == nil {
		return nil
	}
	api, err := websocket.New(ctx, websocket.Options{
		API: s.template.WebSocketAPIs[0], Invoker: s.lambdas, Region: table.Region, Account: account,
		Log: accessLog(s.opts.Output),
	})
	if err != nil {
		return err
	}
	s.sockets.api = api
	s.sockets.server = &http.Server{Handler: s.guard.Protect(api, "execute-api"), ReadHeaderTimeout: readHeaderTimeout}
	s.running.Go(func() {
		if err := s.sockets.server.Serve(s.sockets.listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve WebSockets: %w", err))
		}
	})
	return nil
}

// close ends every connection, with a $disconnect event for each, and then the
// listener.
func (k *sockets) close(ctx context.Context) {
	if k.api != nil {
		k.api.Close(ctx)
		_ = k.server.Close() // the remaining connections have been cut off already
	}
	_ = k.listener.Close() // closed already if the server ran
}
