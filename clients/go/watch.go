package rethread

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// Watch yields a session as it is, and again after each change. Changes during the
// loop's body are combined into the next value. It resumes by itself after a lost
// connection, at the end of each stream, which lasts about 90 seconds, and with a new
// token when the old one has expired.
//
// The sequence ends with an error: ErrNotFound, ErrForbidden (also when a share has
// ended), ErrDeleted, ErrInvalid, or the cause of ctx. It retries all other failures.
// Leaving the loop closes the connection.
func (c *Client) Watch(ctx context.Context, sessionID string) iter.Seq2[Watched, error] {
	return func(yield func(Watched, error) bool) {
		following, stop := context.WithCancel(ctx)
		w := &watcher{
			t: c.transport, id: sessionID, state: view.NewState(), changed: make(chan struct{}, 1), ended: make(chan struct{}),
		}
		go func() {
			defer close(w.ended)
			w.err = w.follow(following)
		}()
		defer func() {
			stop()
			<-w.ended
		}()
		w.yieldChanges(yield)
	}
}

// watcher follows one session over server-sent events.
type watcher struct {
	t  *transport
	id string

	mu       sync.Mutex // guards state
	state    *view.State
	changed  chan struct{} // signals that the state may have changed
	ended    chan struct{} // closed when following has ended
	err      error         // why, set before ended is closed
	failures int           // in a row
	reloads  []time.Time   // the last reads of the thread
	resumes  bool          // whether a stream was open before
	retry    time.Duration // wanted by the server before the next stream
	rejected string        // a token that has expired
	reason   string        // why access ended: revoked or expired
}

// yieldChanges yields the session after each change until following ends.
func (w *watcher) yieldChanges(yield func(Watched, error) bool) {
	var convert converter
	for shown := int64(-1); ; {
		ended := false
		select {
		case <-w.changed:
		case <-w.ended:
			ended = true // what changed before the end is still shown
		}
		now, version, ok := w.show(shown)
		if ok {
			shown = version
			session, err := convert.watched(now)
			if !yield(session, err) || err != nil {
				return
			}
		}
		if ended {
			yield(Watched{}, fmt.Errorf("watch session %s: %w", w.id, w.err))
			return
		}
	}
}

// show returns the session, unless it has not changed since a version or is not known.
func (w *watcher) show(since int64) (view.Session, int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	version := w.state.Version()
	if version == since || w.state.NeedsThread() || w.state.Deleted() {
		return view.Session{}, version, false
	}
	return w.state.Show(), version, true
}

// follow keeps the state up to date until a final error or the end of ctx.
func (w *watcher) follow(ctx context.Context) error {
	for {
		err := w.once(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case w.state.Deleted():
			return &Error{Status: 410, Detail: ErrDeleted.Error()}
		case final(err):
			return w.withReason(err)
		}
		if err := sleep(ctx, w.pause(err)); err != nil {
			return err
		}
	}
}

// once reads the thread if the state needs it, or else follows one stream to its end.
func (w *watcher) once(ctx context.Context) error {
	if !w.state.NeedsThread() {
		return w.stream(ctx)
	}
	if err := w.delayReload(ctx); err != nil {
		return err
	}
	thread, err := w.readThread(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	w.reloads = append(w.reloads, now)
	w.mu.Lock()
	w.state.Replace(thread, now)
	w.mu.Unlock()
	w.notify()
	return errNext
}

// errNext says that the next step is due at once.
var errNext = errors.New("continue")

// pause returns how long to wait before the next step.
func (w *watcher) pause(err error) time.Duration {
	if errors.Is(err, errNext) {
		return 0
	}
	var failed *Error
	errors.As(err, &failed)
	wait := max(w.retry, w.t.jitter(w.failures))
	if failed != nil {
		wait = max(wait, failed.RetryAfter)
	}
	w.failures++
	return wait
}

// delayReload delays repeated reads of the thread, which an item that is too large for a
// message may require each time it grows.
func (w *watcher) delayReload(ctx context.Context) error {
	recent := w.reloads[:0]
	for _, at := range w.reloads {
		if time.Since(at) < time.Minute {
			recent = append(recent, at)
		}
	}
	if w.reloads = recent; len(recent) < 2 {
		return nil
	}
	return sleep(ctx, w.t.jitter(len(recent)-1))
}

// final reports whether a retry cannot succeed.
func final(err error) bool {
	return errors.Is(err, ErrInvalid) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound)
}

// withReason adds to an error why access has ended.
func (w *watcher) withReason(err error) error {
	var failed *Error
	if w.reason != "" && errors.As(err, &failed) {
		if failed.Members == nil {
			failed.Members = map[string]any{}
		}
		failed.Members["reason"] = w.reason
	}
	return err
}

func (w *watcher) notify() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
