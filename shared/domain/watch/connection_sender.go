package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// Limits of a sender.
const (
	// parallelPosts is how many posts are under way concurrently.
	parallelPosts = 64
	// postTimeout limits one post, or closing a connection.
	postTimeout = 2 * time.Second
	// normalPostTime is how long a post takes at most without counting as slow.
	normalPostTime = 100 * time.Millisecond
	// delayBudget is how long one connection may delay one delivery: the time by
	// which its posts exceed normalPostTime, and the waits between retries.
	delayBudget = 10 * time.Second
	// throttledTries is how often one message is posted before its connection
	// counts as too slow; the waits between double from firstWait.
	throttledTries = 6
	firstWait      = 50 * time.Millisecond
	// closeTries is how often closing a connection is tried.
	closeTries = 3
)

// ErrClosed means that a connection was slow or broken and has been closed.
var ErrClosed = errors.New("the connection was closed")

// ConnectionSender sends messages to connections. It is safe for concurrent use.
type ConnectionSender struct {
	pusher Pusher
	posts  chan struct{}
}

// NewConnectionSender returns a sender.
func NewConnectionSender(pusher Pusher) *ConnectionSender {
	return &ConnectionSender{pusher: pusher, posts: make(chan struct{}, parallelPosts)}
}

// Send posts frames to a connection in order. It returns ErrGone if the connection
// is gone, and ErrClosed if it was slow or broken and was closed: its client then
// reconnects and catches up. After any other error the client may have missed
// messages without knowing.
func (c *ConnectionSender) Send(ctx context.Context, connection string, frames [][]byte) error {
	left := delayBudget
	for _, frame := range frames {
		err := c.send(ctx, connection, frame, &left)
		switch {
		case err == nil:
		case errors.Is(err, ErrGone):
			return ErrGone
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			return c.disconnect(ctx, connection, err)
		}
	}
	return nil
}

// send posts one frame, and retries while it is throttled. Its posts and waits share
// the delay budget of the whole delivery.
func (c *ConnectionSender) send(ctx context.Context, connection string, frame []byte, left *time.Duration) error {
	policy := retry.Policy{First: firstWait, Max: firstWait << throttledTries, Tries: throttledTries, Budget: left}
	throttled := func(err error) bool { return errors.Is(err, ErrThrottled) }
	return retry.Do(ctx, policy, throttled, func() error { return c.post(ctx, connection, frame, left) })
}

// post posts one frame. It counts towards parallelPosts only while the post is
// under way, so that waiting connections do not block others.
func (c *ConnectionSender) post(ctx context.Context, connection string, frame []byte, left *time.Duration) error {
	select {
	case c.posts <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.posts }()
	began := time.Now()
	defer func() { *left -= max(0, time.Since(began)-normalPostTime) }()
	ctx, cancel := context.WithTimeout(ctx, min(postTimeout, *left))
	defer cancel()
	err := c.pusher.Push(ctx, connection, frame)
	if err == nil {
		metrics.Count(ctx, metrics.FramesPushed, 1)
	}
	return err
}

// disconnect closes a connection for a reason.
func (c *ConnectionSender) disconnect(ctx context.Context, connection string, reason error) error {
	again := func(err error) bool { return !errors.Is(err, ErrGone) }
	err := retry.Do(ctx, closePolicy(), again, func() error { return c.close(ctx, connection) })
	switch {
	case err == nil:
		return fmt.Errorf("%w: %w", ErrClosed, reason)
	case errors.Is(err, ErrGone):
		return ErrGone
	}
	return fmt.Errorf("close the connection: %w, after: %w", err, reason)
}

func closePolicy() retry.Policy {
	return retry.Policy{First: 2 * firstWait, Max: 4 * firstWait, Tries: closeTries}
}

func (c *ConnectionSender) close(ctx context.Context, connection string) error {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	return c.pusher.Close(ctx, connection)
}
