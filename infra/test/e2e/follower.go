package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	rethread "github.com/rethread/rethread/clients/go"
	client "github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Stream delivers one session's messages.
type Stream interface {
	Next(ctx context.Context) ([]byte, error)
	Close()
}

// Transport watches a session from a cursor: Sockets or ServerSent.
type Transport func(ctx context.Context, u *User, session string, from *watch.Cursor) (Stream, error)

// reconnectPause is the pause before a follower connects again.
const reconnectPause = 100 * time.Millisecond

// Follower keeps one session current by the rules of infra/asyncapi.yaml, whatever
// happens to its streams. It checks each message against the contract.
type Follower struct {
	Name    string
	user    *User
	session string // id
	open    Transport
	state   *view.State // owned by the following goroutine
	cut     chan struct{}

	mu      sync.Mutex
	view    view.Session
	seen    map[string]int // messages by type
	opened  int            // number of streams
	trace   []string       // latest messages
	failed  error          // violation of the contract
	changed chan struct{}  // closed at the next change
}

// Follow follows a session until the test ends. A violation of the contract fails
// the test.
func (u *User) Follow(session, name string, by Transport) *Follower {
	u.tb.Helper()
	f := u.newFollower(session, name)
	f.open, f.state = by, view.NewState()
	u.follow(f, f.run)
	return f
}

// FollowWithClient is Follow with the client of clients/go/watch, which does
// everything itself with one address: its stream cannot be cut, and it does not record
// messages.
func (u *User) FollowWithClient(session, name string) *Follower {
	u.tb.Helper()
	f := u.newFollower(session, name)
	u.follow(f, func(ctx context.Context) {
		c := client.Open(ctx, client.Config{
			URL:   u.system.URL,
			Token: rethread.StaticToken(u.Token),
			HTTP:  &http.Client{Transport: u.plain},
		})
		defer c.Close()
		err := c.Watch(ctx, session, func(s view.Session) { f.publish(s, nil) })
		f.note("-- %v", err)
	})
	return f
}

func (u *User) newFollower(session, name string) *Follower {
	return &Follower{
		Name: name, user: u, session: session,
		cut: make(chan struct{}, 1), seen: map[string]int{}, changed: make(chan struct{}),
	}
}

// follow runs the follower until the test ends.
func (u *User) follow(f *Follower, run func(context.Context)) {
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(u.tb.Context())
	running.Go(func() { run(ctx) })
	u.tb.Cleanup(func() {
		stop()
		running.Wait()
		if f.failed != nil {
			u.tb.Errorf("%s: %v", f.Name, f.failed)
		}
	})
}

// Cut breaks the stream; the follower opens another.
func (f *Follower) Cut() {
	select {
	case f.cut <- struct{}{}:
	default: // a cut is already pending
	}
}

// Until waits until the session looks as expected.
func (f *Follower) Until(tb testing.TB, what string, looks func(view.Session) bool) view.Session {
	tb.Helper()
	var last view.Session
	looked := func(s view.Session) bool {
		last = s
		return looks(s)
	}
	if !f.Wait(looked) {
		tb.Fatalf("%s never came to: %s\n%s\n%s", f.Name, what, render(last), f.report())
	}
	return last
}

// Wait is like Until, but returns false if that does not happen in time.
func (f *Follower) Wait(looks func(view.Session) bool) bool {
	timeout := time.NewTimer(Patience)
	defer timeout.Stop()
	for {
		f.mu.Lock()
		now, changed := f.view, f.changed
		f.mu.Unlock()
		if looks(now) {
			return true
		}
		select {
		case <-changed:
		case <-timeout.C:
			return false
		}
	}
}

// Shows reports whether the session currently looks as expected.
func (f *Follower) Shows(looks func(view.Session) bool) bool {
	f.mu.Lock()
	now := f.view
	f.mu.Unlock()
	return looks(now)
}

// Seen returns how many messages of a type have arrived.
func (f *Follower) Seen(kind watch.Type) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[string(kind)]
}

func (f *Follower) report() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := fmt.Sprintf("%d streams, messages %v, the last:", f.opened, maps.Clone(f.seen))
	for _, line := range f.trace {
		text += "\n  " + line
	}
	return text
}

func (f *Follower) run(ctx context.Context) {
	for ctx.Err() == nil && !f.state.Deleted() {
		if err := f.stream(ctx); err != nil {
			f.note("-- %.300v", err)
		}
		pause := time.NewTimer(reconnectPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}

// stream follows one stream until it ends or is no longer of use.
func (f *Follower) stream(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if f.state.NeedsThread() {
		thread, err := f.user.thread(ctx, f.session)
		if err != nil {
			return err
		}
		f.state.Replace(thread, time.Now())
		f.publish(f.state.Show(), nil)
	}
	from := watch.Cursor(f.state.Cursor())
	f.note("-- from %s", from)
	stream, err := f.open(ctx, f.user, f.session, &from)
	if err != nil {
		return err
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer stream.Close()
	defer stop()
	frames := make(chan []byte)
	reading.Go(func() {
		defer close(frames)
		for {
			text, err := stream.Next(ctx)
			if err != nil {
				return
			}
			select {
			case frames <- text:
			case <-ctx.Done():
				return
			}
		}
	})
	f.mu.Lock()
	f.opened++
	f.mu.Unlock()
	defer f.state.Lost()
	return f.take(ctx, frames)
}

// take applies messages until the stream is no longer of use.
func (f *Follower) take(ctx context.Context, frames <-chan []byte) error {
	repair := time.NewTimer(Patience)
	defer repair.Stop()
	for !f.state.NeedsThread() && !f.state.Deleted() {
		at, missing := f.state.RepairAt()
		if missing {
			repair.Reset(time.Until(at))
		}
		select {
		case text, ok := <-frames:
			if !ok {
				return nil
			}
			if err := f.apply(text); err != nil {
				return err
			}
		case now := <-repair.C:
			if missing {
				f.note("-- repair")
				f.state.Repairing(now)
				return nil
			}
		case <-f.cut:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// apply applies one message.
func (f *Follower) apply(text []byte) error {
	f.note("%.400s", text)
	frame, err := readFrame(f.user.system.messages, text)
	if err == nil && frame.Type == "error" {
		return fmt.Errorf("refused: %s", text) //nolint:err113 // a test shows it
	}
	if err == nil && frame.Cursor != "" {
		var m view.Message
		if m, err = view.ParseMessage(text); err == nil {
			f.state.Apply(m, time.Now())
		}
	}
	f.publish(f.state.Show(), &frame)
	if err != nil {
		f.mu.Lock()
		f.failed = err
		f.mu.Unlock()
	}
	return err
}

func (f *Follower) publish(now view.Session, frame *Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if frame != nil {
		f.seen[frame.Type]++
	}
	f.view = now
	close(f.changed)
	f.changed = make(chan struct{})
}

// traceLines is how many of the latest messages are shown when a test fails.
const traceLines = 30

func (f *Follower) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trace = append(f.trace, fmt.Sprintf(format, args...))
	f.trace = f.trace[max(0, len(f.trace)-traceLines):]
}
