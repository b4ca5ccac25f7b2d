package lambda

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// A process is free only once it asks for more, a moment after it answered.
	// Waiting that long before starting another saves most needless starts.
	startDelay = 3 * time.Millisecond
	// idleTime is how long a process is kept that has nothing to do, beside one
	// of each function: what a burst took is given back.
	idleTime = 30 * time.Second
)

// pool is a function's processes and the invocations that wait for one.
type pool struct {
	host *Host
	Definition
	output *lines

	mu       sync.Mutex
	idle     []*worker // the last one to become idle is taken first
	queue    []*invocation
	workers  map[*worker]struct{}
	starting int
	started  int
	closed   bool
	places   *places
}

func newPool(h *Host, definition Definition, output *lines, p *places) *pool {
	return &pool{host: h, Definition: definition, output: output, workers: map[*worker]struct{}{}, places: p}
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

// submit gives the invocation to an idle worker, or has it wait for one.
func (p *pool) submit(inv *invocation) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	if !p.places.take() {
		return ErrThrottled
	}
	inv.release = sync.OnceFunc(p.places.give)
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

// abandon drops an invocation that nobody waits for any more. One that has
// begun runs to its end, and its answer is thrown away.
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

// grow starts as many workers as invocations still wait.
func (p *pool) grow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.growLocked()
}

func (p *pool) growLocked() {
	for !p.closed && p.starting < len(p.queue) && len(p.workers) < p.places.most {
		p.started++
		w := newWorker(p, fmt.Sprintf("%s-%d", p.LogicalID, p.started))
		p.workers[w] = struct{}{}
		p.starting++
		go w.run()
	}
}

// next blocks until there is work for w. It returns nil when there will be none:
// the worker hung up or the host is stopping.
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
			if p.spare(w) {
				w.kill()
			}
		}
	}
}

// spare takes a worker out of the idle ones for good, unless it is the only one
// or has just been given work.
func (p *pool) spare(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < 2 || !slices.Contains(p.idle, w) {
		return false
	}
	p.idle = slices.DeleteFunc(p.idle, func(i *worker) bool { return i == w })
	return true
}

// retire takes a worker out of the idle ones. Work that it was given at the same
// moment goes back to the front of the queue.
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

// forget removes a worker whose process has ended. One that ended before it was
// ready takes the oldest waiting invocation with it, so that a function that
// cannot start fails its requests instead of starting over and over.
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
		inv.settle(exited(inv.id, nil).result())
		inv.end()
	}
	for _, w := range workers {
		w.kill()
	}
	for _, w := range workers {
		<-w.done
	}
}
