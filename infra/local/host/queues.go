package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/queue/sqsapi"
)

// queues are the template's queues and SQS's API.
type queues struct {
	set      *queue.Set
	endpoint string
	server   *http.Server
}

// startQueues makes the queues, empty, and listens on a free local port.
func (s *System) startQueues(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for SQS: %w", err)
	}
	set := queue.NewSet(s.template, s.opts.Log).SetLimit(s.opts.QueueLimit)
	s.queues = &queues{
		set: set, endpoint: "http://" + listener.Addr().String(),
		server: &http.Server{Handler: s.guard.Protect(sqsapi.New(set, s.opts.Log), "sqs"), ReadHeaderTimeout: readHeaderTimeout},
	}
	s.running.Go(func() {
		if err := s.queues.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve SQS: %w", err))
		}
	})
	return nil
}

// Queues are the template's queues.
func (s *System) Queues() *queue.Set { return s.queues.set }

// SQSEndpoint is the address of SQS's API.
func (s *System) SQSEndpoint() string { return s.queues.endpoint }
