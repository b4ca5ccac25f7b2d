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
	// mostAtOnce is how many batches of one mapping are under way together, at
	// most. It leaves room for those that somebody waits for.
	mostAtOnce = 16
	// refusedPause slows a mapping down whose function cannot be invoked.
	refusedPause = time.Second
)

// mapping is an event source mapping at work.
type mapping struct {
	samtemplate.QueueMapping
	opts     Options
	function samtemplate.Function
	queue    *queue.Queue
}

func (m *mapping) run(ctx context.Context) {
	places := semaphore.NewWeighted(m.most())
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

// most is how many batches may be under way; none where the function may not run.
func (m *mapping) most() int64 {
	most := mostAtOnce
	if m.MaxConcurrency > 0 {
		most = min(most, m.MaxConcurrency)
	}
	if m.function.Reserved != nil {
		most = min(most, *m.function.Reserved)
	}
	return int64(most)
}

// collect waits for a message and takes those that come with it: as many as are
// there, or as come within the batching window, up to a batch's limits. It
// returns nil when ctx ends.
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

// fill waits for messages, or for ctx, and puts into the batch what fits.
func (m *mapping) fill(ctx context.Context, b *batch) {
	taken, err := m.queue.Receive(ctx, m.BatchSize-len(b.messages), m.queue.Settings().VisibilityTimeout)
	if err != nil {
		return // the time is over
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
	if err != nil { // not even begun
		log.WarnContext(ctx, "cannot invoke for a queue", "error", err)
		pause(ctx)
		return
	}
	result.Collect()
	failed := m.failures(ctx, result, b.messages)
	if len(failed) > 0 {
		log.WarnContext(ctx, "messages of a queue failed", "failed", len(failed), "answer", string(result.Payload))
	}
	for _, message := range b.messages {
		if failed[message.ID] {
			continue
		}
		if err := m.queue.Delete(message.Receipt); err != nil {
			log.WarnContext(ctx, "a message will come again", "id", message.ID, "error", err)
		}
	}
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(refusedPause):
	}
}
