package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// apply applies the next message in order.
func (f *follower) apply(_ string, text []byte) error {
	m, err := watch.ParseMessage(text)
	if err == nil {
		err = f.view.apply(m)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", order.ErrReload, err)
	}
	return nil
}

// listen applies the messages of a connection until it breaks or has to be
// reopened; true if the run is over.
func (f *follower) listen(ctx context.Context, watcher Watcher) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	messages, broken := make(chan subscription.Message), error(nil)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(messages)
		broken = receive(ctx, watcher, messages)
	})
	defer running.Wait()
	defer watcher.Close()
	defer cancel()
	check := time.NewTicker(f.CheckEvery)
	defer check.Stop()
	for {
		wait, stop := f.gapTimer()
		select {
		case m, ok := <-messages:
			stop()
			if !ok && ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			if !ok {
				return false, f.waitToReconnect(ctx, &f.failures, broken)
			}
			f.failures = 0
			if done, err := f.accept(ctx, m); done || err != nil {
				return done, f.repair(ctx, err)
			}
		case <-check.C:
			stop()
			if done, err := f.check(ctx, true); done || err != nil {
				return done, err
			}
		case <-wait:
			return false, f.repair(ctx, order.ErrGap)
		case <-ctx.Done():
			stop()
			return false, context.Cause(ctx)
		}
	}
}

// receive reads messages until the connection breaks or ctx ends.
func receive(ctx context.Context, watcher Watcher, into chan<- subscription.Message) error {
	for {
		m, err := watcher.Next(ctx)
		if err != nil {
			return err
		}
		select {
		case into <- m:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// accept puts one message in order and passes on what it changed; true if the
// run is over. order.ErrReload reports that the thread has to be read, as for
// content too large for a message.
func (f *follower) accept(ctx context.Context, m subscription.Message) (bool, error) {
	if watch.Type(m.Type) == watch.Reload {
		if order.TooLarge(m) && !f.order.Lacks(m) {
			return false, nil
		}
		return false, order.ErrReload
	}
	before := f.order.Forwarded()
	err := f.order.Take(m)
	if f.order.Forwarded() == before {
		return false, err
	}
	if err != nil && !errors.Is(err, order.ErrDeleted) {
		return false, err
	}
	return f.check(ctx, false)
}

// repair handles an error of a message: it returns nil if another connection,
// or the thread, may help.
func (f *follower) repair(ctx context.Context, err error) error {
	if now := f.order.Forwarded(); now > f.forwarded {
		f.gaps, f.forwarded = 0, now
	}
	switch {
	case errors.Is(err, order.ErrReload):
		f.view = nil
		if f.gaps == 0 {
			f.gaps = 1
			return nil
		}
	case !errors.Is(err, order.ErrGap):
		return err
	}
	return f.waitToReconnect(ctx, &f.gaps, err)
}

// gapTimer fires when a missing message counts as lost.
func (f *follower) gapTimer() (wait <-chan time.Time, stop func()) {
	at, waits := f.order.Due(gapTime)
	if !waits {
		return nil, func() {}
	}
	timer := time.NewTimer(at.Sub(f.Now()))
	return timer.C, func() { timer.Stop() }
}
