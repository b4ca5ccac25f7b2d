package lambda

import (
	"context"
	"slices"
	"time"
)

// expect says that a worker has answered and is about to become idle, unless its process
// has ended.
func (p *pool) expect(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.workers[w]; ok {
		p.answered[w] = struct{}{}
	}
}

// next blocks until there is an invocation for w. It returns nil if there will be
// none: the worker disconnected or the host is stopping.
func (p *pool) next(ctx context.Context, w *worker) *invocation {
	p.mu.Lock()
	delete(p.answered, w)
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
	delete(p.answered, w)
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
