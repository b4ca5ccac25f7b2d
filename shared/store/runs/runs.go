package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// The attributes of an active run.
const (
	activeID     = "id"
	activeWorker = "w"
	activeLease  = "le"

	activeContinuation  = "cn"
	activeContinuations = "cm"
	activeTrace         = "tr"
)

// ActiveRun is the item of a session's active run. It is in the index by start
// time, so that runs whose workers died are found.
type ActiveRun struct {
	PK       string   `dynamodbav:"PK"`
	SK       string   `dynamodbav:"SK"`
	ID       string   `dynamodbav:"id"`
	User     string   `dynamodbav:"u"`
	Session  string   `dynamodbav:"s"`
	Agent    string   `dynamodbav:"agent"`
	Mode     run.Mode `dynamodbav:"md"`
	Started  int64    `dynamodbav:"ct"`
	Position int64    `dynamodbav:"at"`           // position of its input
	Chain    []string `dynamodbav:"tc,omitempty"` // the automations that led to it
	Slot     bool     `dynamodbav:"sl,omitempty"` // whether it occupies one of its user's slots
	Taken    int64    `dynamodbav:"tk,omitempty"` // how many events of its input were accepted before it began
	Queued   bool     `dynamodbav:"qd,omitempty"` // whether it was queued
	Kept     bool     `dynamodbav:"kp,omitempty"` // whether it is kept if it fails or is cancelled
	Waited   int64    `dynamodbav:"qt,omitempty"` // when its input was queued
	GPK      string   `dynamodbav:"GPK"`
	GSK      string   `dynamodbav:"GSK"`
	Claim
}

// Claim is the worker that executes a run, and for how long.
type Claim struct {
	Worker string `dynamodbav:"w,omitempty"`
	Lease  int64  `dynamodbav:"le"`           // expiry in epoch milliseconds
	Trace  string `dynamodbav:"tr,omitempty"` // of the worker
	// Continuation is the number of workers that were lost before this one, and
	// Continuations how many may be.
	Continuation  int `dynamodbav:"cn,omitempty"`
	Continuations int `dynamodbav:"cm,omitempty"`
}

// runShards spreads the active runs over index partitions, each of which accepts
// 1,000 write units a second.
const runShards = 4

func runShard(n uint32) string { return fmt.Sprintf("RUN#%d", n) }

func runIndexPK(log string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(log)) // never fails
	return runShard(h.Sum32() % runShards)
}

// Run returns the run as callers see it.
func (a *ActiveRun) Run() run.Run {
	r := run.Run{
		ID: a.ID, SessionID: a.Session, Agent: a.Agent, Mode: a.Mode, Status: run.InProgress, StartedTime: a.Started,
		Continuations: a.Continuation, QueuedTime: a.Waited, TraceID: a.Trace,
	}
	if a.Kept {
		r.OnFailed = run.Keep
	}
	return r
}

// attribution returns the run's attribution.
func (a *ActiveRun) attribution() eventlog.Attribution {
	return eventlog.Attribution{User: a.User, Session: a.Session, Agent: a.Agent, Chain: a.Chain}
}

func (a *ActiveRun) ref() run.Ref { return run.Ref{UserID: a.User, SessionID: a.Session, RunID: a.ID} }

// isRun is the condition that a session's active run is the one that was read, and
// that no worker has continued it since.
func isRun(a *ActiveRun) table.Condition {
	return table.And(table.Equal(table.Path{activeID}, a.ID), records.Unchanged(activeContinuation, a.Continuation))
}

// active reads the session's active run, nil if there is none any more.
func (s *reader) active(ctx context.Context, h *sessions.Header) (*ActiveRun, error) {
	if h.Run == "" {
		return nil, nil
	}
	var a ActiveRun
	found, err := s.DB.Get(ctx, keys.RunKey(h.Log), &a)
	if err != nil || !found || a.ID != h.Run {
		return nil, err
	}
	return &a, nil
}

// errRunEnding says that a session's active run has just ended, or is about to.
var errRunEnding = fmt.Errorf("the session's run has just ended: %w", retry.ErrAgain)

// ReadSettled reads a session and the head of its log. It first ends an active run
// whose worker was lost, unless that may still be continued.
func (s *settler) ReadSettled(ctx context.Context, userID, id string) (h *sessions.Header, head eventlog.Head, a *ActiveRun, err error) {
	return s.ReadSettledBy(ctx, s.sessions.Header, userID, id)
}

// ReadSettledBy is ReadSettled with a HeaderReader.
func (s *settler) ReadSettledBy(
	ctx context.Context, read sessions.HeaderReader, userID, id string,
) (h *sessions.Header, head eventlog.Head, a *ActiveRun, err error) {
	err = records.Settled(ctx, func() (err error) {
		h, head, a, err = s.tryReadSettled(ctx, read, userID, id)
		return err
	})
	return h, head, a, err
}

// tryReadSettled tries once; errRunEnding if the session must be read again.
func (s *settler) tryReadSettled(
	ctx context.Context, read sessions.HeaderReader, userID, id string,
) (*sessions.Header, eventlog.Head, *ActiveRun, error) {
	h, head, err := s.sessions.HeaderAndHeadBy(ctx, read, userID, id)
	if err != nil || h.Run == "" {
		return h, head, nil, err
	}
	a, err := s.active(ctx, h)
	switch {
	case err != nil:
		return nil, eventlog.Head{}, nil, err
	case a != nil && !s.isLost(a):
		return h, head, a, nil
	case a != nil:
		err = s.expire(ctx, a)
	}
	if err == nil {
		err = errRunEnding
	}
	return nil, eventlog.Head{}, nil, err
}

func (s *settler) expire(ctx context.Context, a *ActiveRun) error {
	_, err := s.end(ctx, a.ref(), runEnd{status: run.Failed, problem: run.NewProblem(run.CodeLost,
		"nothing was heard from the worker for "+s.lease.String()), lost: a})
	if errors.Is(err, fault.Of(fault.Conflict)) {
		return nil // it ended otherwise, or is alive
	}
	return err
}

// before returns the session as a start finds it, with its active run, nil for
// none, and its queue.
func before(h *sessions.Header, a *ActiveRun, queue run.Queue) run.Before {
	b := run.Before{
		Failed: h.Status == session.Failed, Unfinished: h.UnfinishedRun, Pending: h.PendingAt, PendingCount: h.PendingEvents,
		Queue: queue.Starts,
	}
	if a != nil {
		b.Active, b.ActiveInput, b.ActiveKept = a.ID, a.Position, a.Kept
	}
	return b
}

// Get implements session.Store.
func (s *Store) Get(ctx context.Context, userID, id string) (session.Session, error) {
	h, head, _, err := s.ReadSettled(ctx, userID, id)
	if err != nil {
		return session.Session{}, err
	}
	return s.sessions.Render(ctx, h, head)
}

// PastRun finds a final run by the entry that ended it; nil if the session's log
// has none with that id.
func (s *reader) PastRun(ctx context.Context, h *sessions.Header, id string) (*run.Run, error) {
	var bound eventlog.LowerBound
	found, err := s.DB.Get(ctx, keys.InvocationKey(h.Log, id), &bound)
	if err != nil || !found {
		return nil, err
	}
	if !bound.Run && h.Imported == 0 { // the invocation is no run
		return nil, nil
	}
	var past *run.Run
	err = s.logs.Scan(ctx, h.Log, bound.Position, 0, func(r *eventlog.Record) (bool, error) {
		if r.Ended != id || len(r.Events) == 0 { // no other run has ended, or its end is unreadable
			return true, nil
		}
		ended, err := run.EndedBy(r.Events[0])
		ended.SessionID = h.ID()
		past = &ended
		return false, err
	})
	return past, err
}

// runEndedFault returns the fault of a write to a final run.
func runEndedFault(r run.Run) error {
	return fault.New(fault.RunEnded, "the run is over: %s", r.Status).With("run_id", r.ID).With("run_status", r.Status)
}

// ownerOf reads the session of an active run; fault.Conflict if the run is final.
func (s *reader) ownerOf(ctx context.Context, ref run.Ref) (*sessions.Header, error) {
	h, err := s.sessions.Header(ctx, ref.UserID, ref.SessionID)
	if err != nil {
		return nil, err
	}
	return h, s.stillActive(ctx, h, ref)
}

func (s *reader) stillActive(ctx context.Context, h *sessions.Header, ref run.Ref) error {
	if h.Run == ref.RunID {
		return ofContinuation(h, ref)
	}
	past, err := s.PastRun(ctx, h, ref.RunID)
	switch {
	case err != nil:
		return err
	case past == nil:
		return fault.Missing("Run")
	}
	return runEndedFault(*past)
}

// renewEarly is the fraction of a lease, as a divisor, that must have passed before
// a renewal writes.
const renewEarly = 4

// Renew implements run.Store. A lease that was just renewed is not written again.
// One that has expired is renewed while the run waits to be continued.
func (s *settler) Renew(ctx context.Context, ref run.Ref) error {
	h, err := s.ownerOf(ctx, ref)
	if err != nil {
		return err
	}
	a, err := s.active(ctx, h)
	if err != nil {
		return err
	}
	until := s.Millis() + s.lease.Milliseconds()
	if a != nil && a.Continuation != ref.Continuation {
		return run.SupersededFault(ref)
	}
	if a != nil && until-a.Lease < s.lease.Milliseconds()/renewEarly {
		return nil
	}
	if a != nil {
		lease := table.Path{activeLease}
		err = s.DB.Update(ctx, keys.RunKey(h.Log), []table.Change{table.Set(lease, until)},
			isRun(a), table.Greater(lease, s.Millis()-s.grace(a)))
	}
	if a == nil || errors.Is(err, table.ErrConditionFailed) { // it ended concurrently, or its lease has expired
		return s.refusedRenewal(ctx, ref)
	}
	return err
}

// refusedRenewal returns why a run cannot be renewed.
func (s *settler) refusedRenewal(ctx context.Context, ref run.Ref) error {
	r, err := s.Run(ctx, ref)
	if err != nil {
		return err
	}
	if !r.Status.Final() {
		return run.SupersededFault(ref)
	}
	return runEndedFault(r)
}

// runEvent is a hidden event about a run.
func (s *reader) runEvent(typ string, r run.Run, position, time int64) (session.Event, error) {
	raw, err := json.Marshal(r)
	return session.Event{
		ID: session.PositionalID(position, s.Random()), InvocationID: r.ID, Author: "system", Seq: position,
		Status: session.EventCompleted, CreatedTime: time,
		Fields: map[string]json.RawMessage{"type": json.RawMessage(`"` + typ + `"`), "run": raw},
	}, err
}
