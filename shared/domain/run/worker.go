package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// Worker executes runs: it calls a run's agent with all that the session shows
// and stores what the agent produces while it comes (seed 001). It keeps
// nothing between runs and is safe for concurrent use.
type Worker struct {
	Store    Store
	Sessions Sessions
	Agents   Agents
	NewID    func() string // tells executions apart; never the same twice
	Log      *slog.Logger
	Pace     Pace
}

// Sessions is what a worker reads of a session.
type Sessions interface {
	// AsOfInput reads a session as it was when the input of an active run had
	// been appended, whatever came since. fault.Conflict where the run is over.
	AsOfInput(ctx context.Context, ref Ref) (History, error)
}

// History is a session as of one position of its log.
type History struct {
	AppName string
	Events  []session.Event // effective, oldest first
	// State is merged, with prefixed keys. Of user: and app: keys it has the
	// values of that position too, unless another session changed them since.
	State session.Values
}

// Pace weighs how soon things show against what the writes cost. Zero values
// stand for the defaults.
type Pace struct {
	// FlushEvery is the longest that a delta waits to be stored, but for the
	// time the write before it takes; default 150 ms. An item's first never waits.
	FlushEvery time.Duration
	// FlushBytes is how much text may wait, measured as JSON; default 800, which
	// takes one write unit with all that is stored around it.
	FlushBytes int
	// CheckEvery is how long nothing need show that the run still lives before
	// it is looked up; default 2 s. So a cancellation stops even a silent agent.
	CheckEvery time.Duration
	// RenewEvery is how often the lease is extended; default a third of it.
	RenewEvery time.Duration
	// Reserve is the part of the context's time that is kept for ending the run,
	// which fails once only that is left; default 20 s.
	Reserve time.Duration
}

func (p Pace) withDefaults() Pace {
	return Pace{
		FlushEvery: cmp.Or(p.FlushEvery, 150*time.Millisecond),
		FlushBytes: cmp.Or(p.FlushBytes, 800),
		CheckEvery: cmp.Or(p.CheckEvery, 2*time.Second),
		RenewEvery: cmp.Or(p.RenewEvery, Lease/3),
		Reserve:    cmp.Or(p.Reserve, 20*time.Second),
	}
}

// Execute executes a run to its end. It returns nil once the run is settled,
// whatever its end, and where it is none of this execution's: claimed by
// another, cancelled or gone. An error means that the run's end could not be
// stored, so the job is worth delivering again.
func (w *Worker) Execute(ctx context.Context, ref Ref) error {
	ctx = logs.With(ctx, slog.String(logs.SessionID, ref.SessionID), slog.String(logs.RunID, ref.RunID))
	r, err := w.Store.Claim(ctx, ref, w.NewID())
	switch {
	case errors.Is(err, fault.Of(fault.Conflict)):
		return w.leave(ctx, ref)
	case gone(err):
		w.Log.InfoContext(ctx, "the run is gone")
		return nil
	case err != nil:
		return fmt.Errorf("claim run %s: %w", ref.RunID, err)
	}
	metrics.Count(ctx, metrics.RunsStarted, 1)
	x := newExecution(w, ref, r.Agent)
	defer x.calls.Wait()
	return x.end(ctx, x.produce(ctx))
}

// leave leaves a run to the worker that has claimed it. A job that comes again
// because that one crashed finds the lease out: reading the run then ends it.
func (w *Worker) leave(ctx context.Context, ref Ref) error {
	r, err := w.Store.Run(ctx, ref)
	if err != nil && !gone(err) {
		return fmt.Errorf("look after run %s: %w", ref.RunID, err)
	}
	w.Log.InfoContext(ctx, "the run is not this worker's", "status", string(r.Status))
	return nil
}

// gone reports whether a session or run has been deleted.
func gone(err error) bool {
	return errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden))
}

// unnamed is what an agent is called in a session that names none.
const unnamed = "default"

// request reads all that an agent needs: the session as of the run's input, so
// that it answers that, and not what others have appended since.
func (w *Worker) request(ctx context.Context, ref Ref, agent string) (Request, error) {
	h, err := w.Sessions.AsOfInput(ctx, ref)
	if err != nil {
		return Request{}, fmt.Errorf("read session %s: %w", ref.SessionID, err)
	}
	return Request{
		RunID: ref.RunID, SessionID: ref.SessionID, UserID: ref.UserID, Agent: cmp.Or(agent, unnamed),
		AppName: h.AppName, Events: h.Events, State: h.State,
	}, nil
}
