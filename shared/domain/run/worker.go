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

// Worker executes runs: it calls a run's agent with the session's history and
// stores the agent's output as it arrives. It keeps no state between runs and is
// safe for concurrent use.
type Worker struct {
	Store    Store
	Sessions Sessions
	Agents   Agents
	NewID    func() string // identifies executions; never returns the same id twice
	Log      *slog.Logger
	Pace     Pace
	// Requests keeps what agents are sent; nil keeps nothing.
	Requests Keeper
	// TraceOf returns the id of the trace of a context; nil for never.
	TraceOf func(context.Context) string
	// LogAgentErrors selects INFO instead of DEBUG for an agent's own words about its
	// error, which may quote the conversation.
	LogAgentErrors bool
}

// Sessions is what a worker reads of a session.
type Sessions interface {
	// AsOfInput reads a session as it was after the input of an active run had been
	// appended, without later changes; of its events only the newest turns within
	// the limit. It returns fault.Conflict if the run is final.
	AsOfInput(ctx context.Context, ref Ref, limit HistoryLimit) (History, error)
}

// History is a session as of one position of its log.
type History struct {
	AppName string
	Events  []session.Event // effective, oldest first
	// Truncated reports that older turns were left out.
	Truncated bool
	// LogID is the id of the session's log: a session that is deleted and created again
	// under the same id has another.
	LogID string
	// Epoch is the session's epoch, which changes with each rewind.
	Epoch int64
	// State is merged, with prefixed keys. user: and app: keys also have the values
	// of that position, unless another session changed them since.
	State session.Values
	// Said is what the run has stored after its input, oldest first; none unless the
	// run is continued.
	Said []session.Event
}

// Pace balances latency against the cost of writes. Zero values select the
// defaults.
type Pace struct {
	// FlushEvery is the maximum time that a delta is pending, in addition to the
	// duration of the previous write; default 250 ms. An item's first delta is
	// stored at once, the next ones after a quarter and half of that time if somebody
	// watches.
	FlushEvery time.Duration
	// FlushBytes is how much text may be pending, measured as JSON; default 800,
	// which takes one write unit with everything stored around it.
	FlushBytes int
	// CheckEvery is how long the run may go without a write before the worker
	// checks that it still lives; default 2 s. This lets a cancellation stop a
	// silent agent.
	CheckEvery time.Duration
	// RenewEvery is how often the lease is extended; default half of it. A renewal that
	// fails is repeated after CheckEvery.
	RenewEvery time.Duration
	// Reserve is the part of the context's time that is kept for ending the run,
	// which fails when only that is left; default 20 s.
	Reserve time.Duration
}

func (p Pace) withDefaults() Pace {
	return Pace{
		FlushEvery: cmp.Or(p.FlushEvery, 250*time.Millisecond),
		FlushBytes: cmp.Or(p.FlushBytes, 800),
		CheckEvery: cmp.Or(p.CheckEvery, 2*time.Second),
		RenewEvery: cmp.Or(p.RenewEvery, Lease/2),
		Reserve:    cmp.Or(p.Reserve, 20*time.Second),
	}
}

// Execute executes a run to its end. It returns nil if the run has ended, however
// it ended, and if it is not this execution's: claimed by another, cancelled or
// deleted. An error means that the run's end could not be stored, so the job should
// be delivered again.
func (w *Worker) Execute(ctx context.Context, ref Ref) error {
	ctx = logs.With(ctx, slog.String(logs.SessionID, ref.SessionID), slog.String(logs.RunID, ref.RunID))
	by := Claimant{Worker: w.NewID(), Continuations: w.continuationsOf}
	if w.TraceOf != nil {
		by.Trace = w.TraceOf(ctx)
	}
	r, err := w.Store.Claim(ctx, ref, by)
	switch {
	case errors.Is(err, fault.Of(fault.Conflict)):
		return w.leaveToClaimant(ctx, ref)
	case isDeleted(err):
		w.Log.InfoContext(ctx, "the run was deleted")
		return nil
	case err != nil:
		return fmt.Errorf("claim run %s: %w", ref.RunID, err)
	}
	w.countClaimed(ctx, r)
	ref.Continuation = r.Continuations
	x := newExecution(w, ref, r.Agent)
	defer x.calls.Wait()
	return x.end(ctx, x.produce(ctx))
}

// leaveToClaimant leaves a run to the worker that has claimed it. If the job is
// delivered again because that worker crashed, the sweeper continues the run once
// its lease has expired, or reading it ends it.
func (w *Worker) leaveToClaimant(ctx context.Context, ref Ref) error {
	r, err := w.Store.Run(ctx, ref)
	if err != nil && !isDeleted(err) {
		return fmt.Errorf("look after run %s: %w", ref.RunID, err)
	}
	w.Log.InfoContext(ctx, "the run belongs to another worker", "status", string(r.Status))
	return nil
}

// isDeleted reports whether a session or run has been deleted.
func isDeleted(err error) bool {
	return errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden))
}

// continuationsOf returns how often a run of an agent may be continued.
func (w *Worker) continuationsOf(agent string) int {
	a, ok := w.Agents.Agent(agent)
	if !ok {
		return 0
	}
	return ContinuationsOf(a)
}

func (w *Worker) countClaimed(ctx context.Context, r Run) {
	if r.Continuations == 0 {
		metrics.Count(ctx, metrics.RunsStarted, 1)
		return
	}
	metrics.Count(ctx, metrics.RunsContinued, 1)
	w.Log.WarnContext(ctx, "the run is continued, because its worker was lost", "continuation", r.Continuations)
}

// defaultAgent is the agent of a session that names none.
const defaultAgent = "default"

// request reads all that an agent needs: the session as of the run's input, so that
// the agent answers that input and not later events.
func (w *Worker) request(ctx context.Context, ref Ref, agent string, limit HistoryLimit) (Request, error) {
	h, err := w.Sessions.AsOfInput(ctx, ref, limit)
	if err != nil {
		return Request{}, fmt.Errorf("read session %s: %w", ref.SessionID, err)
	}
	return Request{
		RunID: ref.RunID, SessionID: ref.SessionID, UserID: ref.UserID, Agent: cmp.Or(agent, defaultAgent),
		AppName: h.AppName, Events: WithInterruptions(h.Events), Truncated: h.Truncated, LogID: h.LogID, Epoch: h.Epoch, State: h.State,
		Continuation: ref.Continuation, Said: h.Said,
	}, nil
}
