package stores_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// frozen is an append by an instance, and a session that ends before one of the append's
// requests.
type frozen struct {
	engine      table.Engine
	other       *stores.Store // deletes, sweeps and creates
	at          int           // before which request of the append
	createAgain int           // before which later request, 0 for none
	away        time.Duration // how long the instance is frozen after the deletion
	fork        bool
	shared      bool // whether the event changes the user's state
	before9     bool // whether it had when the session was deleted
	dies        int  // before which of its own requests the deletion stops for good, 0 for none

	clock    atomic.Int64 // how far ahead it is, in nanoseconds
	appendOf atomic.Bool  // whether the append is under way
	mu       sync.Mutex   // an append may send several requests at once
	request  int          // of the append
	ended    bool
	created  bool
	app      string
}

func (f *frozen) now() time.Time {
	return time.UnixMilli(1_800_000_000_000).Add(time.Duration(f.clock.Load()))
}

// before plays the other side before a request of the append.
func (f *frozen) before(ctx context.Context, c hooks.Call) error {
	if !f.appendOf.Load() || readsNewest(c) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.request++
	if f.request == f.at {
		if err := f.end(ctx); err != nil {
			return err
		}
	}
	if f.createAgain > 0 && f.ended && !f.created && f.request >= f.at+f.createAgain-1 {
		f.created = true
		_, err := f.other.Sessions.Create(ctx, session.New{ID: "s", UserID: alice, AppName: f.app, Agent: "agent", Nonce: "again"})
		return err
	}
	return nil
}

// end deletes the session, and sweeps what is due after the time away.
func (f *frozen) end(ctx context.Context) error {
	if f.dies > 0 {
		return f.die(ctx)
	}
	if f.shared {
		f.before9, _ = f.has9(ctx)
	}
	f.ended = true
	if err := f.other.Sessions.Delete(ctx, alice, "s"); err != nil {
		return err
	}
	f.clock.Add(int64(f.away))
	_, err := f.other.Lifecycle.Sweep(ctx)
	return err
}

// has9 reports whether the user's state has what the append sets.
func (f *frozen) has9(ctx context.Context) (bool, error) {
	state, err := f.other.Sessions.State(ctx, alice, "t")
	return state.User["k"] != nil, err
}

// die begins a deletion that stops, and then reads the session.
func (f *frozen) die(ctx context.Context) error {
	requests, dead := 0, errors.New("the process stops")
	deleter := stores.New(storetest.Before(f.engine, func(context.Context, hooks.Call) error {
		if requests++; requests >= f.dies {
			return dead
		}
		return nil
	}), stores.WithClock(f.now))
	_ = deleter.Sessions.Delete(ctx, alice, "s") // nobody gets the answer
	_, err := f.other.Sessions.Get(ctx, alice, "s")
	if errors.Is(err, fault.Of(fault.NotFound)) {
		f.ended, err = true, nil
	}
	return err
}

// No append is acknowledged after a deletion was answered, whatever its instance remembers
// and however long it was frozen, whether the id was created again or not; nothing of it
// stays. If the deletion stops halfway, none is after the session reads as deleted.
func TestAppend_to_a_session_that_is_deleted(t *testing.T) {
	t.Parallel()
	const requests = 5
	cases := 0
	for warm := range 6 { // appends of the instance before: it remembers the head from the third on
		for at := 1; at <= requests; at++ {
			for createAgain := range 3 {
				for _, away := range []time.Duration{0, 2 * time.Minute, sweep.Grace + time.Hour} {
					for _, fork := range []bool{false, true} {
						cases++
						name := fmt.Sprintf("%d appends before, deleted before request %d, created again %d, frozen for %s, fork %v",
							warm, at, createAgain, away, fork)
						f := &frozen{at: at, createAgain: createAgain, away: away, fork: fork}
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							f.play(t, warm)
						})
					}
				}
			}
		}
	}
	for warm := range 6 {
		for at := 1; at <= requests+3; at++ { // it reads the states
			for createAgain := range 3 {
				for _, away := range []time.Duration{0, 2 * time.Minute, sweep.Grace + time.Hour} {
					cases++
					name := fmt.Sprintf("%d appends before, deleted before request %d, created again %d, frozen for %s, with shared state",
						warm, at, createAgain, away)
					f := &frozen{at: at, createAgain: createAgain, away: away, shared: true}
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						f.play(t, warm)
					})
				}
			}
		}
	}
	for warm := range 6 {
		for at := 1; at <= requests; at++ {
			for createAgain := range 3 {
				for dies := 1; dies <= 8; dies++ {
					cases++
					name := fmt.Sprintf("%d appends before, a deletion that stops before its request %d before request %d, created again %d",
						warm, dies, at, createAgain)
					f := &frozen{at: at, createAgain: createAgain, dies: dies}
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						f.play(t, warm)
					})
				}
			}
		}
	}
	if cases < 1692 {
		t.Errorf("%d cases, want at least 1692", cases)
	}
}

func (f *frozen) play(t *testing.T, warm int) {
	t.Helper()
	f.engine = storetest.Engine(t)
	clock := stores.WithClock(f.now)
	f.other = stores.New(f.engine, clock)
	s := stores.New(storetest.Before(f.engine, f.before), clock)
	f.app = mustCreate(t, f.other, alice, "s", nil).AppName
	for n := range warm {
		mustAppend(t, s, alice, "s", ofA(t, n+1))
	}
	if f.fork {
		mustFork(t, f.other, "s", "fork", nil)
	}
	log := storetest.Text(t, storetest.Item(t, f.engine, table.NewKey("S#s", "HEAD")), "l")
	e := ofA(t, 9)
	if f.shared {
		mustCreate(t, f.other, alice, "t", nil)
		e.StateDelta = session.Delta{"user:k": json.RawMessage("9")}
	}
	f.appendOf.Store(true)
	_, n, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{e}})
	f.appendOf.Store(false)
	f.check(t, n, err)
	if f.shared {
		if has, readErr := f.has9(t.Context()); readErr != nil || has != (err == nil || f.before9) {
			t.Errorf("the append returned %v, and the user's state has its value: %v, %v", err, has, readErr)
		}
	}
	if f.fork {
		if got := len(mustEvents(t, f.other, alice, "fork", session.EventQuery{View: session.All})); got != warm {
			t.Errorf("the fork has %d events, want %d", got, warm)
		}
		if err := f.other.Sessions.Delete(t.Context(), alice, "fork"); err != nil {
			t.Error(err)
		}
	}
	if !f.ended {
		return
	}
	for range 3 {
		f.clock.Add(int64(time.Hour))
		if _, err := f.other.Lifecycle.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if left := keysIn(t, f.engine); slices.ContainsFunc(left, func(k string) bool { return strings.HasPrefix(k, "L#"+log) }) {
		t.Errorf("left of the log: %v", left)
	}
}

// check compares the answer with what is stored.
func (f *frozen) check(t *testing.T, appended int, err error) {
	t.Helper()
	page, readErr := f.other.Sessions.Events(t.Context(), alice, "s", session.EventQuery{View: session.All, Limit: 100})
	stored := readErr == nil && slices.ContainsFunc(page.Events, func(e session.Event) bool { return e.ID == "a.9" })
	switch {
	case err == nil && !stored && !f.before9:
		t.Errorf("%d appended, but the session does not have it", appended)
	case err != nil && (stored || !errors.Is(err, fault.Of(fault.NotFound))):
		t.Errorf("%v, although the session has it: %v", err, stored)
	case err != nil && !f.ended:
		t.Error(err)
	}
}

// A deletion competes only with appends that had read the log before.
func TestDelete_beside_busy_writers(t *testing.T) {
	t.Parallel()
	const writers = 32
	engine := storetest.Engine(t)
	var deleting atomic.Bool
	var holds, late atomic.Int64
	other := before(engine, func(_ context.Context, c hooks.Call) error {
		if putsEntry(c) {
			holds.Add(1)
		}
		return nil
	})
	mustCreate(t, other, alice, "s", nil)
	var running sync.WaitGroup
	enough := make(chan struct{})
	var appended atomic.Int64
	for w := range writers {
		s := stores.New(engine)
		running.Go(func() {
			for n := 0; ; n++ {
				after := deleting.Load()
				_, _, err := s.Sessions.Append(t.Context(), session.Append{
					SessionID: "s", UserID: alice, Events: []session.Event{event(t, fmt.Sprintf("w%d.%d", w, n), fmt.Sprint("w", w), "x")},
				})
				if errors.Is(err, fault.Of(fault.NotFound)) {
					return
				}
				if after && err == nil {
					late.Add(1)
					return
				}
				if appended.Add(1) == 2*writers {
					close(enough)
				}
			}
		})
	}
	<-enough
	if err := other.Sessions.Delete(t.Context(), alice, "s"); err != nil {
		t.Error(err)
	}
	deleting.Store(true)
	running.Wait()
	if late.Load() > 0 {
		t.Errorf("%d appends began after the deletion and were acknowledged", late.Load())
	}
	if n := holds.Load(); n < 1 || n > writers {
		t.Errorf("the deletion needed %d attempts, want 1 to %d", n, writers)
	}
}

// A deletion that stops after its transaction leaves nothing once the log is swept, also if
// nobody has asked for the session.
func TestDelete_that_stops_leaves_nothing(t *testing.T) {
	t.Parallel()
	f := &frozen{engine: storetest.Engine(t)}
	f.other = stores.New(f.engine, stores.WithClock(f.now))
	mustCreate(t, f.other, alice, "s", nil)
	mustAppend(t, f.other, alice, "s", ofA(t, 1))
	dead, transacted := errors.New("the process stops"), false
	deleter := stores.New(storetest.Before(f.engine, func(_ context.Context, c hooks.Call) error {
		if transacted {
			return dead
		}
		transacted = c.Op == hooks.Transact
		return nil
	}), stores.WithClock(f.now))
	if err := deleter.Sessions.Delete(t.Context(), alice, "s"); !errors.Is(err, dead) {
		t.Fatal(err)
	}
	of := func(prefix string) bool {
		return slices.ContainsFunc(keysIn(t, f.engine), func(k string) bool { return strings.HasPrefix(k, prefix) })
	}
	if !of("S#s") {
		t.Fatal("the deletion did not stop halfway")
	}
	for range 2 {
		f.clock.Add(int64(time.Hour))
		if _, err := f.other.Lifecycle.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if of("S#s") || of("L#") {
		t.Errorf("left: %v", keysIn(t, f.engine))
	}
	page, err := f.other.Sessions.List(t.Context(), session.ListQuery{UserID: alice, Limit: 10})
	if err != nil || len(page.Sessions) > 0 {
		t.Errorf("the list has %v, %v", page.Sessions, err)
	}
}
