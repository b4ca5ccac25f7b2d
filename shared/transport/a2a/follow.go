package a2a

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/sleep"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
)

const (
	// maxReconnects is how often in a row a connection that brings nothing is
	// opened anew; the waits between double from firstWait.
	maxReconnects = 6
	firstWait     = 100 * time.Millisecond
	// staleTries is how often a thread is read that rewinds meanwhile.
	staleTries = 5
	// hold is how long what comes too early waits for what is missing before it.
	hold = time.Second
)

var errNoNews = errors.New("the news of the session are out of reach")

// follower keeps up with a task's run until it is over.
type follower struct {
	*handler

	link task.Link
	each func([]session.Event) bool
	over func(ctx context.Context, ask bool) (bool, error)

	view  *view        // nil until the thread is read, and when only the thread helps
	begin watch.Cursor // the thread's
	order *order.Order // of the messages since then

	failures int // of connections, in a row
	gaps     int // in a row: connections that did not bring what is missing
	passed   int // messages, when the newest gap was found
}

// follow calls each with the events of a task whenever they have changed, until
// its run is over or each returns false. What it shows may lag: who wants the
// end of it reads the task afterwards.
func (h *handler) follow(ctx context.Context, link task.Link, each func([]session.Event) bool) error {
	f := &follower{handler: h, link: link, each: each}
	f.over = f.runOver
	return f.run(ctx)
}

// awaitAnswer waits until a task goes on, or was cancelled, that waits for its
// user, and returns it as it is then.
func (h *handler) awaitAnswer(ctx context.Context, link task.Link) (task.Link, error) {
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

// run keeps up until it is over.
func (f *follower) run(ctx context.Context) error {
	for {
		if f.view == nil {
			if err := f.read(ctx); err != nil {
				return err
			}
		}
		// Without a connection only the table says whether the run is over.
		if done, err := f.look(ctx, f.failures+f.gaps > 0); done || err != nil {
			return err
		}
		from, known := f.order.Cursor()
		if !known {
			from = f.begin
		}
		f.order.Subscribed()
		news, err := f.News(ctx, callerOf(ctx).token, f.link.SessionID, from)
		if err != nil {
			if err := f.pause(ctx, &f.failures, err); err != nil {
				return err
			}
			continue
		}
		done, err := f.listen(ctx, news)
		if done || err != nil {
			return err
		}
	}
}

// pause waits before the next connection, unless the cause is that there may be
// none, or it is one too many in a row.
func (f *follower) pause(ctx context.Context, inARow *int, cause error) error {
	var final *fault.Error
	if errors.As(cause, &final) {
		return cause
	}
	if *inARow++; *inARow > maxReconnects {
		return fmt.Errorf("%w: %w", errNoNews, cause)
	}
	f.Log.InfoContext(ctx, "the news of a session broke off", "session_id", f.link.SessionID, "error", cause)
	return sleep.Retry(ctx, 2*firstWait, firstWait<<(maxReconnects+1), *inARow)
}

// read takes the session as it stands, from the task on.
func (f *follower) read(ctx context.Context) error {
	for try := 0; ; try++ {
		s, err := f.Sessions.Get(ctx, f.link.UserID, f.link.SessionID)
		if err != nil {
			return err
		}
		now, begin, err := f.pages(ctx, s.Epoch)
		if errors.Is(err, fault.Of(fault.Conflict)) && try < staleTries {
			continue // it was rewound in between
		}
		if err != nil {
			return err
		}
		if err := f.stillHears(ctx, f.link); err != nil {
			return err
		}
		f.view, f.begin, f.order, f.passed = now, begin, order.New(f.apply, f.Now), 0
		return nil
	}
}

// look shows the task's events and says whether there is nothing more to
// follow; ask looks into the table too.
func (f *follower) look(ctx context.Context, ask bool) (bool, error) {
	if !f.each(f.view.of(f.link.Runs)) || f.view.deleted {
		return true, nil
	}
	return f.over(ctx, ask)
}

// runOver says whether the task's run is over.
func (f *follower) runOver(ctx context.Context, ask bool) (bool, error) {
	ref := lastRun(f.link)
	if f.view.status != session.InProgress || f.view.runID != ref.RunID {
		return true, nil
	}
	if !ask {
		return false, nil
	}
	r, err := f.Runs.Run(ctx, ref)
	return err == nil && r.Status.Over(), err
}
