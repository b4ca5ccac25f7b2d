// Package feed hands the messages of queues to functions, as Lambda's event source
// mappings do: in batches, several at once, a FIFO queue's groups in their order.
// What a function is done with is deleted; what it fails on shows again when its
// visibility timeout is over, or when the function says.
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

// ErrMapping says that a mapping of the template cannot work.
var ErrMapping = errors.New("bad event source mapping")

// Invoker runs a function, named by its logical id, and waits for its answer.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (*lambda.Result, error)
}

// Queues are what is read.
type Queues interface {
	Queues() []*queue.Queue
}

// Options are what the mappings need.
type Options struct {
	Functions []samtemplate.Function
	Queues    Queues
	Invoker   Invoker
	// Region stands in the events.
	Region string
	Log    *slog.Logger
}

// Source feeds functions from queues.
type Source struct{ mappings []*mapping }

// New finds the queues that the functions read. The error is ErrMapping.
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

// Run feeds the functions until ctx ends. What is under way then stays in its
// queue.
func (s *Source) Run(ctx context.Context) error {
	var group sync.WaitGroup
	for _, m := range s.mappings {
		group.Go(func() { m.run(ctx) })
	}
	group.Wait()
	return nil
}
