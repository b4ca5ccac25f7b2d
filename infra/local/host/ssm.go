package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/rethread/rethread/infra/local/ssm"
)

// held is Systems Manager's API, with the parameters that the developer asked for.
type held struct {
	endpoint string
	server   *http.Server
}

// leave puts what a template's parameter would have held into a parameter of
// Systems Manager, if the developer names one, and returns what is left for the
// environment.
func (s *System) leave(to, value, otherwise string) (string, error) {
	name := s.opts.Parameters[to]
	if name == "" {
		return value, nil
	}
	if len(value) > ssm.MaxBytes {
		return "", fmt.Errorf("%w: %s: a parameter holds 8 KB, and this has %d bytes", errUnsupported, name, len(value))
	}
	if s.held == nil {
		s.held = ssm.Parameters{}
	}
	s.held[name] = value
	return otherwise, nil
}

// startParameters listens on a free port of this machine.
func (s *System) startParameters(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for Systems Manager: %w", err)
	}
	s.manager = &held{
		endpoint: "http://" + listener.Addr().String(),
		server:   &http.Server{Handler: s.guard.Protect(s.held, "ssm"), ReadHeaderTimeout: readHeaderTimeout},
	}
	s.running.Go(func() {
		if err := s.manager.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve Systems Manager: %w", err))
		}
	})
	return nil
}
