package lambda

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// A process becomes idle only when it asks for the next invocation, a moment after
	// it answered, which lasts longer on a busy machine. Waiting that long before starting
	// another process, which takes longer still, avoids most needless starts; and callers
	// that send one request after another meet the same process.
	startDelay = 20 * time.Millisecond
	// settleDelay is how long a process that has answered is preferred to an idle one.
	settleDelay = 10 * time.Millisecond
	// idleTime is how long surplus idle processes are kept. One process of each
	// function is kept for good.
	idleTime = 30 * time.Second
)

// pool is a function's processes and its pending invocations.
type pool struct {
	host *Host
	Definition
	output *lines

	mu       sync.Mutex
	idle     []*worker // the last one to become idle is used first
	queue    []*invocation
	workers  map[*worker]struct{}
	starting int
	answered map[*worker]struct{} // about to become idle
	started  int
	accepted int // invocations
	closed   bool
	slots    *slots
}

func newPool(h *Host, definition Definition, output *lines, p *slots) *pool {
	return &pool{host: h, Definition: definition, output: output, workers: map[*worker]struct{}{}, answered: map[*worker]struct{}{}, slots: p}
}

func (p *pool) invoke(ctx context.Context, inv *invocation) (*Result, error) {
	if err := p.submit(inv); err != nil {
		return nil, err
	}
	select {
	case result := <-inv.done:
		return result, nil
	case <-ctx.Done():
		p.abandon(inv)
		return nil, ctx.Err()
	}
}

// submit hands the invocation to an idle worker, or queues it. A worker that has just
// answered is about to become idle and is preferred, since the caller may be the one that
// has got its answer.
func (p *pool) submit(inv *invocation) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	if !p.slots.acquire() {
		return ErrThrottled
	}
	p.accepted++
	inv.release = sync.OnceFunc(p.slots.release)
	p.queue = append(p.queue, inv)
	if len(p.answered) == 0 {
		p.handOutLocked()
	}
	switch {
	case len(p.queue) == 0:
	case len(p.workers) == 0:
		p.growLocked()
	default:
		time.AfterFunc(settleDelay, func() { p.whilePending(inv, p.handOutLocked) })
		time.AfterFunc(startDelay, func() { p.whilePending(inv, p.growLocked) })
	}
	return nil
}

// whilePending does something for an invocation if that is still pending.
func (p *pool) whilePending(inv *invocation, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.queue, inv) {
		do()
	}
}

// handOutLocked hands pending invocations to idle workers.
func (p *pool) handOutLocked() {
	for len(p.queue) > 0 && len(p.idle) > 0 {
		last := len(p.idle) - 1
		w, inv := p.idle[last], p.queue[0]
		p.idle, p.queue = p.idle[:last], p.queue[1:]
		w.work <- inv
	}
}

// abandon drops an invocation whose caller has left. If it has begun, it runs to
// its end and its answer is discarded.
func (p *pool) abandon(inv *invocation) {
	p.mu.Lock()
	before := len(p.queue)
	p.queue = slices.DeleteFunc(p.queue, func(q *invocation) bool { return q == inv })
	begun := len(p.queue) == before
	p.mu.Unlock()
	inv.abandon()
	if !begun {
		inv.end()
	}
}

// growLocked starts a worker for each pending invocation.
func (p *pool) growLocked() {
	for !p.closed && p.starting < len(p.queue) && len(p.workers) < p.slots.limit {
		p.started++
		w := newWorker(p, fmt.Sprintf("%s-%d", p.LogicalID, p.started))
		p.workers[w] = struct{}{}
		p.starting++
		go w.run()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	waiting := p.queue
	p.queue = nil
	var workers []*worker
	for w := range p.workers {
		workers = append(workers, w)
	}
	p.mu.Unlock()
	for _, inv := range waiting {
		inv.deliver(exited(inv.id, nil).result())
		inv.end()
	}
	for _, w := range workers {
		w.kill()
	}
	for _, w := range workers {
		<-w.done
	}
}
