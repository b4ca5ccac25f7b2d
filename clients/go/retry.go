package rethread

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	firstDelay   = 250 * time.Millisecond
	longestDelay = 8 * time.Second
)

// delay returns how long to wait before another attempt after a number of failures in
// a row, and whether there may be one.
func (t *transport) delay(err error, p *prepared, o options, failures int) (time.Duration, bool) {
	var failed *Error
	if !errors.As(err, &failed) {
		return 0, false
	}
	refused := failed.Status == http.StatusTooManyRequests
	// The first attempt is still being executed.
	executing := failed.Status == http.StatusConflict && p.repeat == repeatKey && failed.retryAfter
	// A conditional change that succeeded would fail when it is repeated.
	repeatable := p.repeat != repeatRefused && o.ifMatch == ""
	if !refused && !executing && (!failed.temporary() || !repeatable) {
		return 0, false
	}
	return max(failed.RetryAfter, t.jitter(failures-1)), true
}

// jitter returns the delay after a number of failures: a random part of a bound that
// doubles, so that clients that failed together do not return together.
func (t *transport) jitter(failures int) time.Duration {
	bound := min(longestDelay, firstDelay<<min(failures, 10))
	return time.Duration(t.random() * float64(bound))
}

// sleep waits for d, or returns the cause of ctx if it ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
