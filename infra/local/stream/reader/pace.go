package reader

import (
	"context"
	"sync"
	"time"
)

// The pauses between two polls. Each poll takes a millisecond of the processor, and
// tests run many systems side by side, most of them idle.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = 25 * time.Millisecond
	// A stream without new records for quiet is polled every quietPause only.
	quiet      = time.Second
	quietPause = 100 * time.Millisecond
	// If writes are announced, their records are soon there: a stream without new
	// records for announcedQuiet is polled after the next announcement. It is also
	// polled every announcedPause, for writes that nobody announces, such as those of
	// the engine's expiry.
	announcedQuiet = 100 * time.Millisecond
	announcedPause = 500 * time.Millisecond
)

// Writes announces writes to a table to the readers of its stream. The zero value is
// ready for use, and nil announces nothing.
type Writes struct {
	mu   sync.Mutex
	next chan struct{}
}

// Announce reports that something was written to the table, or may have been.
func (w *Writes) Announce() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next != nil {
		close(w.next)
		w.next = nil
	}
}

// coming returns a channel that the next announcement closes.
func (w *Writes) coming() <-chan struct{} {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next == nil {
		w.next = make(chan struct{})
	}
	return w.next
}

// pace determines when a loop polls.
type pace struct {
	writes *Writes
	since  time.Time     // when the loop began, or found the last announcement
	pause  time.Duration // before the next poll, unless the stream is quiet
}

func newPace(writes *Writes) *pace {
	return &pace{writes: writes, since: time.Now(), pause: shortestPause}
}

// wait waits before the next poll. written is the result of coming before the last
// one, so that no announcement is missed.
func (p *pace) wait(ctx context.Context, written <-chan struct{}) error {
	pause, wake, resting := p.pause, (<-chan struct{})(nil), false
	switch idle := time.Since(p.since); {
	case p.writes == nil && idle > quiet:
		pause, resting = quietPause, true
	case p.writes != nil && idle > announcedQuiet:
		pause, wake, resting = announcedPause, written, true
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-timer.C:
	}
	select {
	case <-written:
		if p.since = time.Now(); resting {
			p.pause = shortestPause
		}
	default:
		p.pause = min(2*p.pause, longestPause)
	}
	return nil
}
