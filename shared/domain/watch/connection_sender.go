package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/sleep"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// Limits of a sender.
const (
	// parallelPosts is how many posts are on their way at a time.
	parallelPosts = 64
	// postTimeout is how long one post, or closing a connection, may take.
	postTimeout = 2 * time.Second
	// easyPost is how long a post takes that nobody would call slow.
	easyPost = 100 * time.Millisecond
	// patience is how long one delivery may be held up by one connection: what
	// its posts take longer than easyPost, and the waits until it is ready.
	patience = 10 * time.Second
	// throttledTries is how often one message is posted before its connection
	// counts as too slow; the waits between double from firstWait.
	throttledTries = 6
	firstWait      = 50 * time.Millisecond
	// closeTries is how often closing a connection is tried.
	closeTries = 3
)

// ErrCut means that a connection was slow or broken and has been closed.
var ErrCut = errors.New("the connection was closed")

// ConnectionSender brings messages to connections. It is safe for concurrent use.
type ConnectionSender struct {
	pusher Pusher
	random func() float64
	posts  chan struct{}
}

// NewConnectionSender returns a sender; random, from 0 to below 1, spreads waits.
func NewConnectionSender(pusher Pusher, random func() float64) *ConnectionSender {
	return &ConnectionSender{pusher: pusher, random: random, posts: make(chan struct{}, parallelPosts)}
}

// Send posts frames to a connection in order. It returns ErrGone where the
// connection is gone, and ErrCut where it was slow or broken, so that it had to
// be closed: then its client connects anew and repairs what it lacks. Any other
// error means that the client may lack something without knowing.
func (c *ConnectionSender) Send(ctx context.Context, connection string, frames [][]byte) error {
	left := patience
	for _, frame := range frames {
		err := c.send(ctx, connection, frame, &left)
		switch {
		case err == nil:
		case errors.Is(err, ErrGone):
			return ErrGone
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			return c.cut(ctx, connection, err)
		}
	}
	return nil
}

// send posts one frame, again where there were too many at once.
func (c *ConnectionSender) send(ctx context.Context, connection string, frame []byte, left *time.Duration) error {
	for try := 1; ; try++ {
		err := c.post(ctx, connection, frame, left)
		if !errors.Is(err, ErrThrottled) || try == throttledTries {
			return err
		}
		wait := c.spread(firstWait << (try - 1))
		if *left -= wait; *left <= 0 {
			return err
		}
		if err := sleep.For(ctx, wait); err != nil {
			return err
		}
	}
}

// post posts one frame. It holds one of the few places only while the post is
// on its way, so that connections that wait are in nobody's way.
func (c *ConnectionSender) post(ctx context.Context, connection string, frame []byte, left *time.Duration) error {
	select {
	case c.posts <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.posts }()
	began := time.Now()
	defer func() { *left -= max(0, time.Since(began)-easyPost) }()
	ctx, cancel := context.WithTimeout(ctx, min(postTimeout, *left))
	defer cancel()
	err := c.pusher.Push(ctx, connection, frame)
	if err == nil {
		metrics.Count(ctx, metrics.FramesPushed, 1)
	}
	return err
}

// cut closes a connection for a reason.
func (c *ConnectionSender) cut(ctx context.Context, connection string, reason error) error {
	for try := 1; ; try++ {
		err := c.close(ctx, connection)
		switch {
		case err == nil:
			return fmt.Errorf("%w: %w", ErrCut, reason)
		case errors.Is(err, ErrGone):
			return ErrGone
		case try == closeTries:
			return fmt.Errorf("close the connection: %w, after: %w", err, reason)
		}
		if err := sleep.For(ctx, c.spread(firstWait<<try)); err != nil {
			return err
		}
	}
}

func (c *ConnectionSender) close(ctx context.Context, connection string) error {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	return c.pusher.Close(ctx, connection)
}

// spread is a random part of d, from none to all of it.
func (c *ConnectionSender) spread(d time.Duration) time.Duration {
	return time.Duration(c.random() * float64(d))
}
