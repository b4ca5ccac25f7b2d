package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/rethread/rethread/infra/local/ssm"
)

// parameterStore is Systems Manager's API, with the parameters that the developer asked for.
type parameterStore struct {
	endpoint string
	server   *http.Server
}

// moveToParameterStore stores the value of a template's parameter in Systems Manager, if the
// developer names a parameter there, and returns the value for the environment.
func (s *System) moveToParameterStore(to, value, otherwise string) (string, error) {
	name := s.opts.Parameters[to]
	if name == "" {
		return value, nil
	}
	if len(value) > ssm.MaxBytes {
		return "", fmt.Errorf("%w: %s: a parameter holds at most 8 KB, this value has %d bytes", errUnsupported, name, len(value))
	}
	if s.ssmParameters == nil {
		s.ssmParameters = ssm.Parameters{}
	}
	s.ssmParameters[name] = value
	return otherwise, nil
}

// startParameters listens on a free local port.
func (s *System) startParameters(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for Systems Manager: %w", err)
	}
	s.parameterStore = &parameterStore{
		endpoint: "http://" + listener.Addr().String(),
		server:   &http.Server{Handler: s.guard.Protect(ssm.Store{Parameters: s.ssmParameters, File: s.opts.AgentSecrets}, "ssm"), ReadHeaderTimeout: readHeaderTimeout},
	}
	s.running.Go(func() {
		if err := s.parameterStore.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve Systems Manager: %w", err))
		}
	})
	return nil
}
