package feed

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const (
	// maxConcurrent limits the concurrent batches of one mapping. It leaves room for
	// synchronous invocations.
	maxConcurrent = 16
	// refusedPause slows down a mapping whose function cannot be invoked.
	refusedPause = time.Second
)

// mapping is a running event source mapping.
type mapping struct {
	samtemplate.QueueMapping
	opts     Options
	function samtemplate.Function
	queue    *queue.Queue
}

func (m *mapping) run(ctx context.Context) {
	places := semaphore.NewWeighted(m.concurrency())
	var group sync.WaitGroup
	defer group.Wait()
	for places.Acquire(ctx, 1) == nil {
		b := m.collect(ctx)
		if b == nil {
			return
		}
		group.Go(func() {
			defer places.Release(1)
			m.deliver(ctx, b)
		})
	}
}

// concurrency is the limit of concurrent batches; 0 if the function's reserved
// concurrency is 0.
func (m *mapping) concurrency() int64 {
	most := maxConcurrent
	if m.MaxConcurrency > 0 {
		most = min(most, m.MaxConcurrency)
	}
	if m.function.Reserved != nil {
		most = min(most, *m.function.Reserved)
	}
	return int64(most)
}

// collect waits for a message and batches it with those that are available or
// arrive within the batching window, up to the limits of a batch. It returns nil
// when ctx ends.
func (m *mapping) collect(ctx context.Context) *batch {
	b := &batch{}
	m.fill(ctx, b)
	if m.BatchWindow > 0 {
		window, cancel := context.WithTimeout(ctx, m.BatchWindow)
		defer cancel()
		for !b.full && len(b.messages) < m.BatchSize && window.Err() == nil {
			m.fill(window, b)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return b
}

// fill waits for messages, or for ctx, and adds those that fit to the batch.
func (m *mapping) fill(ctx context.Context, b *batch) {
	taken, err := m.queue.Receive(ctx, m.BatchSize-len(b.messages), m.queue.Settings().VisibilityTimeout)
	if err != nil {
		return // the window has ended
	}
	for i, message := range taken {
		if !b.add(message, m.record(message)) {
			m.queue.Return(taken[i:]...)
			return
		}
	}
}

// deliver invokes the function once.
func (m *mapping) deliver(ctx context.Context, b *batch) {
	log := m.opts.Log.With("function", m.function.LogicalID, "queue", m.Queue, "messages", len(b.messages))
	result, err := m.opts.Invoker.Invoke(ctx, m.function.LogicalID, b.payload())
	if ctx.Err() != nil {
		return
	}
	if err != nil { // the function was not started
		log.WarnContext(ctx, "failed to invoke a function for a queue; retrying", "error", err)
		pause(ctx)
		return
	}
	result.Collect()
	failed := m.failures(ctx, result, b.messages)
	if len(failed) > 0 {
		log.WarnContext(ctx, "function failed to process messages of a queue; they are delivered again after their visibility timeout", "failed", len(failed), "answer", string(result.Payload))
	}
	for _, message := range b.messages {
		if failed[message.ID] {
			continue
		}
		if err := m.queue.Delete(message.Receipt); err != nil {
			log.WarnContext(ctx, "failed to delete a processed message; it will be delivered again", "id", message.ID, "error", err)
		}
	}
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(refusedPause):
	}
}
