package a2a

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

// apply takes the next message in order.
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

// listen applies what a connection tells until it breaks or must be opened
// anew; true when the run is over.
func (f *follower) listen(ctx context.Context, news News) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	messages, broken := make(chan subscription.Message), error(nil)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(messages)
		broken = receive(ctx, news, messages)
	})
	defer running.Wait()
	defer news.Close()
	defer cancel()
	check := time.NewTicker(f.CheckEvery)
	defer check.Stop()
	for {
		wait, stop := f.late()
		select {
		case m, ok := <-messages:
			stop()
			if !ok && ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			if !ok {
				return false, f.pause(ctx, &f.failures, broken)
			}
			f.failures = 0
			if done, err := f.take(ctx, m); done || err != nil {
				return done, f.repair(ctx, err)
			}
		case <-check.C:
			stop()
			if done, err := f.look(ctx, true); done || err != nil {
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
func receive(ctx context.Context, news News, into chan<- subscription.Message) error {
	for {
		m, err := news.Next(ctx)
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

// take takes one message, and shows what it changed; true when the run is over.
// order.ErrReload says that only the thread helps: what is too large for a
// message is read there, too.
func (f *follower) take(ctx context.Context, m subscription.Message) (bool, error) {
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
	return f.look(ctx, false)
}

// repair is what an error of a message means: nil where another connection, or
// the thread before it, helps.
func (f *follower) repair(ctx context.Context, err error) error {
	if now := f.order.Forwarded(); now > f.passed {
		f.gaps, f.passed = 0, now
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
	return f.pause(ctx, &f.gaps, err)
}

// late is when what is missing will not come any more by itself.
func (f *follower) late() (wait <-chan time.Time, stop func()) {
	at, waits := f.order.Due(hold)
	if !waits {
		return nil, func() {}
	}
	timer := time.NewTimer(at.Sub(f.Now()))
	return timer.C, func() { timer.Stop() }
}
