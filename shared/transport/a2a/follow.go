package a2a

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/sleep"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/domain/watch/client"
)

const (
	// maxReconnects is how often in a row a connection that brings nothing is
	// opened anew; the waits between double from firstWait.
	maxReconnects = 6
	firstWait     = 100 * time.Millisecond
	// staleTries is how often a thread is read that rewinds meanwhile.
	staleTries = 5
)

var errNoNews = errors.New("the news of the session are out of reach")

// follower keeps up with a task's run until it is over.
type follower struct {
	*handler

	link task.Link
	each func([]session.Event) bool
	over func(ctx context.Context, now client.Session, ask bool) (bool, error)
	view *client.State

	failures int // of connections, in a row
}

// follow calls each with the events of a task whenever they have changed, until
// its run is over or each returns false. What it shows may lag: who wants the
// end of it reads the task afterwards.
func (h *handler) follow(ctx context.Context, link task.Link, each func([]session.Event) bool) error {
	f := &follower{handler: h, link: link, each: each, view: client.NewState()}
	f.over = f.runOver
	return f.run(ctx)
}

// awaitAnswer waits until a task goes on, or was cancelled, that waits for its
// user, and returns it as it is then.
func (h *handler) awaitAnswer(ctx context.Context, link task.Link) (task.Link, error) {
	f := &follower{handler: h, link: link, view: client.NewState()}
	f.each = func([]session.Event) bool { return true }
	next := link
	f.over = func(ctx context.Context, _ client.Session, _ bool) (bool, error) {
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
		if f.view.NeedsThread() {
			if err := f.read(ctx); err != nil {
				return err
			}
		}
		// Without a connection only the table says whether the run is over.
		if done, err := f.look(ctx, f.failures > 0); done || err != nil {
			return err
		}
		f.view.Repairing(f.Now())
		news, err := f.News(ctx, callerOf(ctx).token, f.link.SessionID, f.view.Cursor())
		if err != nil {
			if err := f.pause(ctx, err); err != nil {
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
// none.
func (f *follower) pause(ctx context.Context, cause error) error {
	var final *fault.Error
	if errors.As(cause, &final) {
		return cause
	}
	if f.failures++; f.failures > maxReconnects {
		return fmt.Errorf("%w: %w", errNoNews, cause)
	}
	f.Log.InfoContext(ctx, "the news of a session broke off", "session_id", f.link.SessionID, "error", cause)
	return sleep.Retry(ctx, 2*firstWait, firstWait<<(maxReconnects+1), f.failures)
}

// read takes the session as it stands, from the task on.
func (f *follower) read(ctx context.Context) error {
	for try := 0; ; try++ {
		s, err := f.Sessions.Get(ctx, f.link.UserID, f.link.SessionID)
		if err != nil {
			return err
		}
		t, err := f.pages(ctx, s.Epoch)
		if errors.Is(err, fault.Of(fault.Conflict)) && try < staleTries {
			continue // it was rewound in between
		}
		if err != nil {
			return err
		}
		if err := f.stillHears(ctx, f.link); err != nil {
			return err
		}
		f.view.Replace(t, f.Now())
		return nil
	}
}

// listen applies what a connection tells until it breaks or must be opened
// anew; true when the run is over.
func (f *follower) listen(ctx context.Context, news News) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	messages, broken := make(chan watch.Message), error(nil)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(messages)
		for {
			m, err := news.Next(ctx)
			if err != nil {
				broken = err
				return
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
	})
	defer running.Wait()
	defer news.Close()
	defer cancel()
	check := time.NewTicker(f.CheckEvery)
	defer check.Stop()
	for {
		wait, stop := f.repair()
		select {
		case m, ok := <-messages:
			stop()
			if !ok {
				f.view.Lost()
				if ctx.Err() != nil {
					return false, context.Cause(ctx)
				}
				return false, f.pause(ctx, broken)
			}
			f.failures = 0
			changed := f.view.Apply(m, f.Now())
			if f.view.NeedsThread() {
				return false, nil
			}
			if !changed {
				continue
			}
			if done, err := f.look(ctx, false); done || err != nil {
				return done, err
			}
		case <-check.C:
			stop()
			if done, err := f.look(ctx, true); done || err != nil {
				return done, err
			}
		case <-wait:
			return false, nil
		case <-ctx.Done():
			stop()
			return false, context.Cause(ctx)
		}
	}
}

// repair is when to open the connection anew because something is missing.
func (f *follower) repair() (wait <-chan time.Time, stop func()) {
	at, needed := f.view.RepairAt()
	if !needed {
		return nil, func() {}
	}
	timer := time.NewTimer(at.Sub(f.Now()))
	return timer.C, func() { timer.Stop() }
}

// look shows the task's events and says whether there is nothing more to
// follow; ask looks into the table too.
func (f *follower) look(ctx context.Context, ask bool) (bool, error) {
	now := f.view.Show()
	mine := slices.DeleteFunc(slices.Clone(now.Items), func(e session.Event) bool {
		return !slices.Contains(f.link.Runs, e.InvocationID)
	})
	if !f.each(mine) || now.Deleted {
		return true, nil
	}
	return f.over(ctx, now, ask)
}

// runOver says whether the task's run is over.
func (f *follower) runOver(ctx context.Context, now client.Session, ask bool) (bool, error) {
	ref := lastRun(f.link)
	if now.Status != session.InProgress || now.RunID != ref.RunID {
		return true, nil
	}
	if !ask {
		return false, nil
	}
	r, err := f.Runs.Run(ctx, ref)
	return err == nil && r.Status.Over(), err
}
