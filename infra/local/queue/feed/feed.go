// Package feed delivers the messages of queues to functions, like Lambda's event
// source mappings: in batches, several concurrently, a FIFO queue's groups in
// order. Messages that a function processed are deleted. Messages that it failed
// to process become visible again after their visibility timeout, or at the time
// the function sets.
package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// ErrMapping means that a mapping of the template is invalid.
var ErrMapping = errors.New("invalid event source mapping")

// Invoker runs a function, named by its logical id, and waits for its answer.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (*lambda.Result, error)
}

// Queues are the queues that functions may read.
type Queues interface {
	Queues() []*queue.Queue
}

// Options configure the mappings.
type Options struct {
	Functions []samtemplate.Function
	Queues    Queues
	Invoker   Invoker
	// Region appears in the events.
	Region string
	Log    *slog.Logger
}

// Source delivers messages from queues to functions.
type Source struct{ mappings []*mapping }

// New finds the queues that the functions read. The error wraps ErrMapping.
func New(opts Options) (*Source, error) {
	queues := map[string]*queue.Queue{}
	for _, q := range opts.Queues.Queues() {
		queues[q.Settings().LogicalID] = q
	}
	s := &Source{}
	for _, function := range opts.Functions {
		for _, settings := range function.Queues {
			if !settings.Enabled {
				continue
			}
			q, ok := queues[settings.Queue]
			if !ok {
				return nil, fmt.Errorf("event %s of function %s: %w: no queue %s",
					settings.Name, function.LogicalID, ErrMapping, settings.Queue)
			}
			s.mappings = append(s.mappings, &mapping{QueueMapping: settings, opts: opts, function: function, queue: q})
		}
	}
	return s, nil
}

// Run delivers messages until ctx ends. Messages being processed then stay in
// their queues.
func (s *Source) Run(ctx context.Context) error {
	var group sync.WaitGroup
	for _, m := range s.mappings {
		group.Go(func() { m.run(ctx) })
	}
	group.Wait()
	return nil
}
