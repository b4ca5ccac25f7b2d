package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
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

// Runs are the operations on runs that a follower uses.
type Runs interface {
	Run(ctx context.Context, ref run.Ref) (run.Run, error)
	Thread(ctx context.Context, userID, sessionID string, q run.ThreadQuery) (run.Thread, error)
}

// Config configures followers.
type Config struct {
	Sessions session.Store
	Runs     Runs
	Watch    WatchFunc
	Log      *slog.Logger
	Now      func() time.Time
	// CheckEvery is the interval at which a followed run is read without any
	// message, to find one whose worker died.
	CheckEvery time.Duration
}

// Target is what is followed: runs of a session, the last of which is the one
// whose end is awaited.
type Target struct {
	UserID, SessionID string // UserID is the session's owner
	Runs              []string
	After             int64         // a position before the runs' events
	Caller            access.Caller // to watch as
	// Recheck returns an error if the caller may not watch the session any longer.
	Recheck func(context.Context) error
}

// ended returns the run whose end is awaited.
func (t Target) ended() run.Ref {
	return run.Ref{UserID: t.UserID, SessionID: t.SessionID, RunID: t.Runs[len(t.Runs)-1]}
}

// follower follows a target until it is over.
type follower struct {
	Config

	target Target
	each   func([]session.Event) bool
	over   func(ctx context.Context, poll bool) (bool, error)

	view  *view        // nil while the thread has to be read, or read again
	begin watch.Cursor // position of the thread
	order *order.Order // of the messages after begin

	failures  int // of connections, in a row
	gaps      int // of messages that a connection did not deliver, in a row
	forwarded int // messages forwarded before the last gap
}

// Run calls each with the events of the target's runs whenever they have
// changed, until the last run is over or each returns false. The events may lag:
// a caller that needs the final state reads the session afterwards.
func (c Config) Run(ctx context.Context, t Target, each func([]session.Event) bool) error {
	f := &follower{Config: c, target: t, each: each}
	f.over = f.runOver
	return f.run(ctx)
}

// Until follows the session until over, which is called whenever it has changed,
// reports the end.
func (c Config) Until(ctx context.Context, t Target, over func(context.Context) (bool, error)) error {
	f := &follower{Config: c, target: t, each: func([]session.Event) bool { return true }}
	f.over = func(ctx context.Context, _ bool) (bool, error) { return over(ctx) }
	return f.run(ctx)
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
		watcher, err := f.Watch(ctx, f.target.Caller, f.target.SessionID, from)
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
	f.Log.InfoContext(ctx, "a session's connection was lost", "session_id", f.target.SessionID, "error", cause)
	return retry.SleepAfter(ctx, 2*firstWait, firstWait<<(maxReconnects+1), *failures)
}

// read reads the session's current state from the target's position on.
func (f *follower) read(ctx context.Context) error {
	isRewound := func(err error) bool { return errors.Is(err, fault.Of(fault.Conflict)) }
	policy := retry.Policy{First: threadWait, Max: 8 * threadWait, Tries: maxThreadReads}
	return retry.Do(ctx, policy, isRewound, func() error {
		s, err := f.Sessions.Get(ctx, f.target.UserID, f.target.SessionID)
		if err != nil {
			return err
		}
		now, begin, err := f.readThread(ctx, s.Epoch)
		if err != nil {
			return err
		}
		if err := f.target.Recheck(ctx); err != nil {
			return err
		}
		f.view, f.begin, f.order, f.forwarded = now, begin, order.New(f.apply, f.Now), 0
		return nil
	})
}

// check passes the runs' events on and reports whether the end is reached;
// poll reads the table, too.
func (f *follower) check(ctx context.Context, poll bool) (bool, error) {
	if !f.each(f.view.eventsOf(f.target.Runs)) || f.view.deleted {
		return true, nil
	}
	return f.over(ctx, poll)
}

// runOver reports whether the last run is over.
func (f *follower) runOver(ctx context.Context, poll bool) (bool, error) {
	ref := f.target.ended()
	if f.view.status != session.InProgress || f.view.runID != ref.RunID {
		return true, nil
	}
	if !poll {
		return false, nil
	}
	r, err := f.Runs.Run(ctx, ref)
	return err == nil && r.Status.Final(), err
}
