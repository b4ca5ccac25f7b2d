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
	started  int
	accepted int // invocations
	closed   bool
	slots    *slots
}

func newPool(h *Host, definition Definition, output *lines, p *slots) *pool {
	return &pool{host: h, Definition: definition, output: output, workers: map[*worker]struct{}{}, slots: p}
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

// submit hands the invocation to an idle worker, or queues it.
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
	if last := len(p.idle) - 1; last >= 0 {
		w := p.idle[last]
		p.idle = p.idle[:last]
		w.work <- inv
		return nil
	}
	p.queue = append(p.queue, inv)
	if len(p.workers) == 0 {
		p.growLocked()
	} else {
		time.AfterFunc(startDelay, p.grow)
	}
	return nil
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

// grow starts a worker for each pending invocation.
func (p *pool) grow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.growLocked()
}

func (p *pool) growLocked() {
	for !p.closed && p.starting < len(p.queue) && len(p.workers) < p.slots.limit {
		p.started++
		w := newWorker(p, fmt.Sprintf("%s-%d", p.LogicalID, p.started))
		p.workers[w] = struct{}{}
		p.starting++
		go w.run()
	}
}

// next blocks until there is an invocation for w. It returns nil if there will be
// none: the worker disconnected or the host is stopping.
func (p *pool) next(ctx context.Context, w *worker) *invocation {
	p.mu.Lock()
	if w.becomeReady() {
		p.starting--
	}
	if len(p.queue) > 0 {
		inv := p.queue[0]
		p.queue = p.queue[1:]
		p.mu.Unlock()
		return inv
	}
	p.idle = append(p.idle, w)
	p.mu.Unlock()
	idle := time.NewTicker(idleTime)
	defer idle.Stop()
	for {
		select {
		case inv := <-w.work:
			return inv
		case <-ctx.Done():
			p.retire(w)
			return nil
		case <-w.done:
			return nil
		case <-idle.C:
			if p.retireIfSpare(w) {
				w.kill()
			}
		}
	}
}

// retireIfSpare removes a surplus worker from the idle ones for good, unless it is the
// only one or has just received an invocation.
func (p *pool) retireIfSpare(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < 2 || !slices.Contains(p.idle, w) {
		return false
	}
	p.idle = slices.DeleteFunc(p.idle, func(i *worker) bool { return i == w })
	return true
}

// retire removes a worker from the idle ones. An invocation that it received at
// the same moment returns to the front of the queue.
func (p *pool) retire(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = slices.DeleteFunc(p.idle, func(i *worker) bool { return i == w })
	select {
	case inv := <-w.work:
		p.queue = slices.Insert(p.queue, 0, inv)
		p.growLocked()
	default:
	}
}

// forget removes a worker whose process has ended. If the process ended before it
// was ready, forget returns the oldest pending invocation, so that a function that
// cannot start fails its requests instead of restarting over and over.
func (p *pool) forget(w *worker) (victim *invocation) {
	p.retire(w)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.workers, w)
	if !w.becomeReady() {
		p.growLocked()
		return nil
	}
	p.starting--
	if len(p.queue) > 0 {
		victim = p.queue[0]
		p.queue = p.queue[1:]
	}
	p.growLocked()
	return victim
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
