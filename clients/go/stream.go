package rethread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// idleLimit is the time without a byte after which a stream is taken for lost. The
// server sends a comment every 15 seconds.
const idleLimit = 60 * time.Second

// readThread reads the thread, each page with one attempt: the watcher tries again.
func (w *watcher) readThread(ctx context.Context) (view.Thread, error) {
	return wholeThread(ctx, w.t, w.id, 1, w.options())
}

// options are those of each request: a token that has expired is not sent again.
func (w *watcher) options() []Option {
	return []Option{func(o *options) { o.rejected = w.rejected }}
}

// stream opens a stream at the state's position and applies its messages until it ends.
func (w *watcher) stream(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	idle := time.AfterFunc(idleLimit, func() { stop(ErrTimeout) })
	defer idle.Stop()
	w.mu.Lock()
	cursor := w.state.Cursor().String()
	w.state.Repairing(time.Now())
	w.mu.Unlock()
	res, err := w.t.open(ctx, w.call(cursor), w.options()) //nolint:bodyclose // it is closed below
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // nothing depends on it
	w.resumes, w.rejected, w.reason = true, "", ""
	repair := w.repairs(stop)
	defer repair.Stop()
	err = readEvents(res.Body, events{
		alive: func() { idle.Reset(idleLimit) },
		retry: func(d time.Duration) { w.retry = d },
		event: func(data []byte) error {
			w.failures = 0
			return w.received(data, res.Request, repair)
		},
	})
	w.mu.Lock()
	w.state.Lost()
	w.mu.Unlock()
	return err
}

// call returns the request for a stream. A reader with Last-Event-ID is not refused for
// its number of streams.
func (w *watcher) call(cursor string) call {
	c := get("/sessions/{}/watch", w.id)
	c.base, c.attempts, c.header = baseStream, 1, http.Header{"Accept": {"text/event-stream"}}
	if w.resumes {
		c.header.Set("Last-Event-ID", cursor)
	} else {
		c.query = url.Values{"cursor": {cursor}}
	}
	return c
}

// repairs returns a timer that ends the stream when something is missing for too long.
// It is set after each message.
func (w *watcher) repairs(stop context.CancelCauseFunc) *time.Timer {
	timer := time.AfterFunc(time.Hour, func() { stop(errMissing) })
	timer.Stop()
	w.setRepair(timer)
	return timer
}

// errMissing ends a stream in which messages are missing.
var errMissing = errors.New("messages are missing")

func (w *watcher) setRepair(timer *time.Timer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, due := w.state.RepairAt(); due {
		timer.Reset(time.Until(at))
		return
	}
	timer.Stop()
}

// received applies an event of a stream. errNext ends the stream: the thread must be
// read, or the session was deleted.
func (w *watcher) received(data []byte, sent *http.Request, repair *time.Timer) error {
	var head struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(data, &head); err == nil && head.Type == "unsubscribed" {
		return w.unsubscribed(head.Reason, sent)
	}
	m, err := view.ParseMessage(data)
	now := time.Now()
	w.mu.Lock()
	if err != nil {
		w.state.Missed(now)
	} else {
		w.state.Apply(m, now)
	}
	ends := w.state.NeedsThread() || w.state.Deleted()
	w.mu.Unlock()
	w.setRepair(repair)
	w.notify()
	if ends {
		return errNext
	}
	return nil
}

// unsubscribed handles the last event of a stream whose access or token has ended.
// Opening another shows whether that is final.
func (w *watcher) unsubscribed(reason string, sent *http.Request) error {
	const scheme = "Bearer "
	if reason == "token_expired" {
		w.rejected = sent.Header.Get("Authorization")[len(scheme):]
		return errNext
	}
	w.reason = reason
	return &Error{Detail: fmt.Sprintf("access has ended: %s", reason)}
}
