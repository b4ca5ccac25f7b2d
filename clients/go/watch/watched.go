package watch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// watched is a session that somebody watches. Lines bring it messages; its own
// loop does what its state asks for.
type watched struct {
	c        *Client
	id       string
	wake     chan struct{}
	onChange func(view.Session)

	mu       sync.Mutex
	state    *view.State
	on       *line // that it is subscribed on, or asked to be
	request  string
	requests int
	answerBy time.Time // zero while no answer is due
	failures int       // of subscribing, in a row
	retryAt  time.Time
	refused  error

	shown    int64 // version of the state that was shown last
	reloads  int   // in short succession
	reloaded time.Time
}

// run keeps the session current.
func (w *watched) run(ctx context.Context) error {
	for {
		if err := w.show(); err != nil {
			return fmt.Errorf("watch session %s: %w", w.id, err)
		}
		if w.needsThread() {
			if err := w.reload(ctx); err != nil {
				return fmt.Errorf("read the thread of session %s: %w", w.id, err)
			}
			continue
		}
		wait, stop := w.subscribe()
		select {
		case <-w.wake:
		case <-wait:
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
		stop()
	}
}

// show shows what is new, and returns why nothing more will be.
func (w *watched) show() error {
	w.mu.Lock()
	var now *view.Session
	if w.shown != w.state.Version() && !w.state.NeedsThread() {
		s := w.state.Show()
		now, w.shown = &s, w.state.Version()
	}
	err := w.refused
	if w.state.Deleted() {
		err = ErrDeleted
	}
	w.mu.Unlock()
	if now != nil {
		w.onChange(*now)
	}
	return err
}

func (w *watched) needsThread() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state.NeedsThread()
}

// subscribe asks for what the state needs, if it is time, and returns a channel
// for when to look again.
func (w *watched) subscribe() (wait <-chan time.Time, stop func()) {
	on := w.c.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if !w.answerBy.IsZero() && !now.Before(w.answerBy) {
		w.on.end() // it does not answer
		w.answerBy = time.Time{}
	}
	at, due := w.state.RepairAt()
	wanted := w.on != on || due && !now.Before(at)
	if on != nil && wanted && w.answerBy.IsZero() && !now.Before(w.retryAt) {
		w.requests++
		w.on, w.request, w.answerBy = on, strconv.Itoa(w.requests), now.Add(answerWithin)
		on.send(action{
			Action: "subscribe", SessionID: w.id, RequestID: w.request, Cursor: w.state.Cursor().String(),
		})
		w.state.Repairing(now)
	}
	return w.nextLook(on)
}

// nextLook is when there may be something to do again; nil where a message or a
// connection has to come first.
func (w *watched) nextLook(on *line) (<-chan time.Time, func()) {
	at, due := w.state.RepairAt()
	switch {
	case !w.answerBy.IsZero():
		at = w.answerBy
	case on == nil, !due && w.on == on:
		return nil, func() {}
	case w.on != on:
		at = w.retryAt
	case at.Before(w.retryAt):
		at = w.retryAt
	}
	timer := time.NewTimer(time.Until(at))
	return timer.C, func() { timer.Stop() }
}

// reload reads the thread. It waits first where the last time was just now: an
// item that is too large for a frame while it grows asks for it again and again.
func (w *watched) reload(ctx context.Context) error {
	if time.Since(w.reloaded) > time.Minute {
		w.reloads = 0
	}
	for failures := 0; ; failures++ {
		if n := max(w.reloads-1, failures); n > 0 {
			if err := sleep(ctx, backoff(n)); err != nil {
				return err
			}
		}
		t, err := w.c.readThread(ctx, w.id)
		switch {
		case err == nil:
			w.reloads++
			w.reloaded = time.Now()
			w.mu.Lock()
			w.state.Replace(t, w.reloaded)
			w.mu.Unlock()
			return nil
		case errors.Is(err, errTransient):
			w.c.Log.InfoContext(ctx, "no thread", "session_id", w.id, "error", err)
		default:
			return err
		}
	}
}

// notify wakes the loop.
func (w *watched) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watched) apply(m view.Message) {
	w.mu.Lock()
	w.state.Apply(m, time.Now())
	w.mu.Unlock()
	w.notify()
}

func (w *watched) missed() {
	w.mu.Lock()
	w.state.Missed(time.Now())
	w.mu.Unlock()
	w.notify()
}

// lost tells that a line has ended.
func (w *watched) lost(l *line) {
	w.mu.Lock()
	w.state.Lost()
	if w.on == l {
		w.on, w.answerBy = nil, time.Time{}
	}
	w.mu.Unlock()
	w.notify()
}

// unseated tells that a line brings nothing of the session any more, and that
// the server wants to be asked again.
func (w *watched) unseated(l *line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on != l {
		return
	}
	w.on, w.retryAt = nil, time.Now().Add(backoff(w.failures))
	w.failures++
	w.notify()
}

// answered tells what became of a subscription.
func (w *watched) answered(request string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if request != w.request {
		return
	}
	w.answerBy = time.Time{}
	switch {
	case err == nil:
		w.failures = 0
	case errors.Is(err, errTransient):
		w.on, w.retryAt = nil, time.Now().Add(backoff(w.failures))
		w.failures++
	default:
		w.refused = err
	}
	w.notify()
}
