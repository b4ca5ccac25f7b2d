package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

var errCrashed = errors.New("the process crashed")

// crash ends a store's work at a request, by its number.
type crash struct {
	at     int64
	landed bool // the request was executed, and its answer lost
	once   bool // only this request fails: a network error
	count  atomic.Int64
	fired  atomic.Bool
}

func (c *crash) String() string {
	what, which := "crash", "before"
	if c.once {
		what = "fault"
	}
	if c.landed {
		which = "after"
	}
	return fmt.Sprintf("%s %s request %d", what, which, c.at)
}

// on returns a table whose user crashes: no further request is made.
func (c *crash) on(engine table.Engine) table.Engine {
	return hooks.New(engine, hooks.Hooks{Before: c.before, After: c.after})
}

func (c *crash) before(context.Context, hooks.Call) error {
	if n := c.count.Add(1); n == c.at && !c.landed || n > c.at && !c.once {
		return lost()
	}
	return nil
}

// after loses one answer, the first one after so many requests.
func (c *crash) after(_ context.Context, _ hooks.Call, _ table.Units, err error) error {
	if c.landed && err == nil && c.count.Load() >= c.at && c.fired.CompareAndSwap(false, true) {
		return lost()
	}
	return err
}

// lost is the error of a request with an unknown outcome.
func lost() error { return fmt.Errorf("%w: %w", table.ErrUndecided, errCrashed) }

// crashCase is an operation that crashes, described for both the store and the
// model.
type crashCase struct {
	name  string
	setup string // the state before it
	do    func(context.Context, *scene, *stores.Store) error
	apply func(*scene)
	// half is another state that the model accepts: a step without a visible effect
	// yet.
	half    func(*scene)
	last    func(*scene, *stage) // after each case
	deletes bool
	// snapshot marks an operation that copies the state at a moment during it.
	snapshot bool
}

// TestCrashes crashes every operation before each of its requests, and loses the
// answer of each. Reads must then show the state before or after the operation; and
// after a repeat of the operation it must have been executed exactly once.
func TestCrashes(t *testing.T) {
	t.Parallel()
	stages := settings(t, crashCases())
	var sets []set
	for _, c := range crashCases() {
		for _, lost := range []bool{false, true} {
			sets = append(sets, set{of: c.name, first: 1, play: func(t *testing.T, at int) bool {
				t.Helper()
				return c.crash(t, &crash{at: int64(at), landed: lost, once: lost}, stages[c.setup].fresh(t))
			}})
		}
	}
	number{all: 354, few: 56, every: 5}.play(t, sets)
}

// crash plays one case; false if the operation needs fewer requests.
func (c crashCase) crash(t *testing.T, cr *crash, st *stage) bool {
	t.Helper()
	s := c.model(t, func(*scene) {})
	err := c.do(t.Context(), s, open(cr.on(st.engine)))
	reached := cr.count.Load() >= cr.at
	if err != nil && !errors.Is(err, errCrashed) {
		t.Errorf("%s: %s: %v", c.name, cr, err)
	}
	possible := []*scene{c.model(t, c.apply)}
	if err != nil {
		possible = append(possible, s)
		if c.half != nil {
			possible = append(possible, c.model(t, c.half))
		}
	}
	if d := st.agrees(possible...); d != "" {
		t.Errorf("%s: %s, which answers %v: the state fits no model\n%s", c.name, cr, err, d)
	}
	if err := c.do(t.Context(), s, st.store); err != nil {
		t.Errorf("%s: %s: again: %v", c.name, cr, err)
	}
	done := c.model(t, c.apply)
	if d := st.agrees(done); d != "" {
		t.Errorf("%s: %s: after the operation again: %s", c.name, cr, d)
	}
	if c.last != nil {
		c.last(done, st)
	}
	return reached
}

// model returns the model as it was set up, with a change.
func (c crashCase) model(t *testing.T, change func(*scene)) *scene {
	t.Helper()
	s := &scene{t: t, world: newWorld()}
	c.setUp(s)
	change(s)
	return s
}
