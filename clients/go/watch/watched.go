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

// watched is a watched session. Connections deliver messages to it; its own loop
// reads the thread and subscribes when the state requires it.
type watched struct {
	c        *Client
	id       string
	wake     chan struct{}
	onChange func(view.Session)

	mu       sync.Mutex
	state    *view.State
	conn     *connection // with its subscription, or the pending request for it
	request  string
	requests int
	answerBy time.Time // zero while no answer is expected
	failures int       // to subscribe, in a row
	retryAt  time.Time
	refused  error

	shown    int64 // version of the last shown state
	reloads  int   // less than a minute apart
	reloaded time.Time
}

// run keeps the session up to date until it ends or ctx does.
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

// show calls onChange if the session has changed, and returns a final error.
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

// subscribe sends a subscription if the state requires one now, and returns a
// channel that signals when to check again.
func (w *watched) subscribe() (wait <-chan time.Time, stop func()) {
	conn := w.c.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if !w.answerBy.IsZero() && !now.Before(w.answerBy) {
		w.conn.end() // it does not answer
		w.answerBy = time.Time{}
	}
	at, due := w.state.RepairAt()
	wanted := w.conn != conn || due && !now.Before(at)
	if conn != nil && wanted && w.answerBy.IsZero() && !now.Before(w.retryAt) {
		w.requests++
		w.conn, w.request, w.answerBy = conn, strconv.Itoa(w.requests), now.Add(answerTimeout)
		conn.send(action{
			Action: "subscribe", SessionID: w.id, RequestID: w.request, Cursor: w.state.Cursor().String(),
		})
		w.state.Repairing(now)
	}
	return w.nextCheck(conn)
}

// nextCheck returns a channel that signals when subscribe should be called again;
// nil if only a message or a connection can make that necessary.
func (w *watched) nextCheck(conn *connection) (<-chan time.Time, func()) {
	at, due := w.state.RepairAt()
	switch {
	case !w.answerBy.IsZero():
		at = w.answerBy
	case conn == nil, !due && w.conn == conn:
		return nil, func() {}
	case w.conn != conn:
		at = w.retryAt
	case at.Before(w.retryAt):
		at = w.retryAt
	}
	timer := time.NewTimer(time.Until(at))
	return timer.C, func() { timer.Stop() }
}

// reload reads the thread. It delays repeated reloads, because an item that is too
// large for a frame requires one each time it grows.
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
			w.c.Log.InfoContext(ctx, "cannot read the thread", "session_id", w.id, "error", err)
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

// disconnected handles the end of a connection.
func (w *watched) disconnected(conn *connection) {
	w.mu.Lock()
	w.state.Lost()
	if w.conn == conn {
		w.conn, w.answerBy = nil, time.Time{}
	}
	w.mu.Unlock()
	w.notify()
}

// resubscribe schedules another subscription after the server has ended the one on
// conn.
func (w *watched) resubscribe(conn *connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != conn {
		return
	}
	w.conn, w.retryAt = nil, time.Now().Add(backoff(w.failures))
	w.failures++
	w.notify()
}

// subscriptionAnswered handles the answer to a subscription; err is nil if it was
// accepted.
func (w *watched) subscriptionAnswered(request string, err error) {
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
		w.conn, w.retryAt = nil, time.Now().Add(backoff(w.failures))
		w.failures++
	default:
		w.refused = err
	}
	w.notify()
}
