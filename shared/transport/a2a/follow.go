package a2a

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/base/sleep"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
)

const (
	// maxReconnects bounds reconnects in a row without progress; the ceiling of
	// the waits between doubles from 2*firstWait.
	maxReconnects = 6
	firstWait     = 100 * time.Millisecond
	// maxThreadReads bounds the tries to read a thread that is rewound during
	// the read.
	maxThreadReads = 6
	threadWait     = 10 * time.Millisecond
	// gapTime is how long messages wait for a missing one before them.
	gapTime = time.Second
)

var errUnreachable = errors.New("the session cannot be watched")

// follower follows a task's run until it is over.
type follower struct {
	*handler

	link task.Link
	each func([]session.Event) bool
	over func(ctx context.Context, poll bool) (bool, error)

	view  *view        // nil while the thread has to be read, or read again
	begin watch.Cursor // position of the thread
	order *order.Order // of the messages after begin

	failures  int // of connections, in a row
	gaps      int // of messages that a connection did not deliver, in a row
	forwarded int // messages forwarded before the last gap
}

// follow calls each with the events of a task whenever they have changed, until
// its run is over or each returns false. The events may lag: a caller that
// needs the final state reads the task afterwards.
func (h *handler) follow(ctx context.Context, link task.Link, each func([]session.Event) bool) error {
	f := &follower{handler: h, link: link, each: each}
	f.over = f.runOver
	return f.run(ctx)
}

// awaitReply waits until a task that needs input is continued or cancelled, and
// returns its current link.
func (h *handler) awaitReply(ctx context.Context, link task.Link) (task.Link, error) {
	f := &follower{handler: h, link: link}
	f.each = func([]session.Event) bool { return true }
	next := link
	f.over = func(ctx context.Context, _ bool) (bool, error) {
		var err error
		next, err = h.Links.Link(ctx, link.UserID, link.TaskID)
		return len(next.Runs) > len(link.Runs) || next.CancelledTime != 0, err
	}
	err := f.run(ctx)
	return next, err
}

// run follows the session until f.over reports the end. It connects again after
// a failure, and it polls the table between tries, because without a connection
// only the table shows the end of the run.
func (f *follower) run(ctx context.Context) error {
	for {
		if f.view == nil {
			if err := f.read(ctx); err != nil {
				return err
			}
		}
		if done, err := f.check(ctx, f.failures+f.gaps > 0); done || err != nil {
			return err
		}
		from, known := f.order.Cursor()
		if !known {
			from = f.begin
		}
		f.order.Subscribed()
		watcher, err := f.Watch(ctx, callerOf(ctx).token, f.link.SessionID, from)
		if err != nil {
			if err := f.waitToReconnect(ctx, &f.failures, err); err != nil {
				return err
			}
			continue
		}
		done, err := f.listen(ctx, watcher)
		if done || err != nil {
			return err
		}
	}
}

// waitToReconnect waits before the next connection. It returns an error if no
// connection is allowed any longer or the limit of failures in a row is
// reached; progress resets that count, which a loop of the retry package could
// not do.
func (f *follower) waitToReconnect(ctx context.Context, failures *int, cause error) error {
	var final *fault.Error
	if errors.As(cause, &final) {
		return cause
	}
	if *failures++; *failures > maxReconnects {
		return fmt.Errorf("%w: %w", errUnreachable, cause)
	}
	f.Log.InfoContext(ctx, "a session's connection was lost", "session_id", f.link.SessionID, "error", cause)
	return sleep.Retry(ctx, 2*firstWait, firstWait<<(maxReconnects+1), *failures)
}

// read reads the session's current state from the task on.
func (f *follower) read(ctx context.Context) error {
	isRewound := func(err error) bool { return errors.Is(err, fault.Of(fault.Conflict)) }
	policy := retry.Policy{First: threadWait, Most: 8 * threadWait, Tries: maxThreadReads}
	return retry.Do(ctx, policy, isRewound, func() error {
		s, err := f.Sessions.Get(ctx, f.link.UserID, f.link.SessionID)
		if err != nil {
			return err
		}
		now, begin, err := f.readThread(ctx, s.Epoch)
		if err != nil {
			return err
		}
		if err := f.recheckWatch(ctx, f.link); err != nil {
			return err
		}
		f.view, f.begin, f.order, f.forwarded = now, begin, order.New(f.apply, f.Now), 0
		return nil
	})
}

// check passes the task's events on and reports whether the end is reached;
// poll reads the table, too.
func (f *follower) check(ctx context.Context, poll bool) (bool, error) {
	if !f.each(f.view.eventsOf(f.link.Runs)) || f.view.deleted {
		return true, nil
	}
	return f.over(ctx, poll)
}

// runOver reports whether the task's run is over.
func (f *follower) runOver(ctx context.Context, poll bool) (bool, error) {
	ref := lastRun(f.link)
	if f.view.status != session.InProgress || f.view.runID != ref.RunID {
		return true, nil
	}
	if !poll {
		return false, nil
	}
	r, err := f.Runs.Run(ctx, ref)
	return err == nil && r.Status.Final(), err
}
