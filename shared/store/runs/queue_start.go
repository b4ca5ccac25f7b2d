package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

// enqueue adds a start to the queue, on condition that the active run, or the queue,
// is still there: otherwise the start is decided again.
func (s *settler) enqueue(
	ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun, queue run.Queue, start run.Start,
) (run.Run, error) {
	if start.Agent == "" {
		start.Agent = h.Agent
	}
	newest, now := s.sessions.CheckOnTop(ctx, h), s.Millis()
	active, same := "", []table.Condition(nil)
	if a != nil {
		active = a.ID
	}
	if len(queue.Starts) == 0 {
		same = append(same, table.Equal(table.Path{sessions.HeaderRun}, active))
	}
	queue, err := queue.Accept(start.Queued(now), active)
	if err == nil {
		err = s.sessions.AdmitBytes(ctx, h.User)
	}
	if err != nil {
		return run.Run{}, err
	}
	changes, err := h.ActivityChanges(newest, now)
	if err == nil {
		changes = append(changes, table.Set(table.Path{sessions.HeaderLastActivity}, max(now, h.ActiveAt())))
		err = s.changeQueue(h, head, queue).write(ctx, changes, same...)
	}
	if err != nil {
		return run.Run{}, fmt.Errorf("queue run %s: %w", start.RunID, s.sessions.NotFoundIfDeleted(ctx, h, err))
	}
	return records.Deref(queue.Find(start.Ref)), nil
}

// queuedRun finds a run that waits in the queue, or was removed from it; nil if
// there is none with that id.
func (s *settler) queuedRun(ctx context.Context, h *sessions.Header, ref run.Ref) (*run.Run, error) {
	q, err := s.neededQueue(ctx, h)
	if err != nil {
		return nil, err
	}
	return q.Find(ref), nil
}

// dequeue cancels a run that waits. It returns the error missing if no run with that
// id waits.
func (s *settler) dequeue(ctx context.Context, h *sessions.Header, head eventlog.Head, ref run.Ref, missing error) (run.Run, error) {
	q, err := s.neededQueue(ctx, h)
	if err != nil {
		return run.Run{}, err
	}
	r := q.Find(ref)
	switch {
	case r == nil:
		return run.Run{}, missing
	case r.Status.Final():
		return *r, nil
	}
	q = q.Cancel(ref.RunID, s.Millis())
	change := s.changeQueue(h, head, q)
	change.startsNext = h.Run == "" && before(h, nil, q).Startable()
	if err := change.write(ctx, nil, records.Unchanged(sessions.HeaderRun, h.Run)); err != nil {
		return run.Run{}, fmt.Errorf("cancel run %s: %w", ref.RunID, s.sessions.NotFoundIfDeleted(ctx, h, err))
	}
	return records.Deref(q.Find(ref)), nil
}

// StartQueued implements run.Store. It is one transaction with the removal of the
// start from the queue.
func (s *Store) StartQueued(ctx context.Context, userID, sessionID string) (r *run.Run, err error) {
	err = records.ContendedBriefly(ctx, func() (err error) {
		r, err = s.startQueued(ctx, userID, sessionID)
		return err
	})
	return r, err
}

// startQueued tries once; table.ErrConditionFailed if the session changed
// concurrently.
func (s *Store) startQueued(ctx context.Context, userID, sessionID string) (*run.Run, error) {
	h, head, a, err := s.ReadSettled(ctx, userID, sessionID)
	switch {
	case err != nil:
		return nil, err
	case a != nil && a.Queued && a.Worker == "": // an earlier call may not have handed it over
		r := a.Run()
		return &r, nil
	case a != nil || h.Queued == 0:
		return nil, nil
	}
	queue, err := s.neededQueue(ctx, h)
	if err != nil || !before(h, nil, queue).Startable() {
		return nil, err
	}
	r, err := s.beginQueued(ctx, h, head, queue, queue.Starts[0].Start(userID, sessionID), true)
	if unstorable(err) {
		r, err = nil, s.beginBare(ctx, h, head, queue, err)
	}
	if err != nil {
		return nil, s.sessions.NotFoundIfDeleted(ctx, h, err)
	}
	return r, nil
}

// beginQueued begins the first run of a queue. hand says that it must be handed to a
// worker, and that its input must be answered by the next run if no worker claims it.
func (s *Store) beginQueued(
	ctx context.Context, h *sessions.Header, head eventlog.Head, queue run.Queue, start run.Start, hand bool,
) (*run.Run, error) {
	plan, err := start.Plan(before(h, nil, run.Queue{}))
	if err != nil {
		return nil, err
	}
	b := s.newStart(ctx, h, head, nil, start, plan)
	b.queue, b.queued = s.changeQueue(h, head, queue.Begin()), hand
	r, err := b.begin(ctx)
	return &r, err
}

// unstorable reports whether an input can never be stored, such as one that would
// make the state too large.
func unstorable(err error) bool {
	for _, kind := range []fault.Kind{fault.Conflict, fault.TooLarge, fault.Invalid, fault.Malformed} {
		if errors.Is(err, fault.Of(kind)) {
			return true
		}
	}
	return false
}

// beginBare begins the first run of a queue with an input that cannot be stored as it
// was sent. The input loses its ids and changes of state, and its run fails, so that it
// is in the thread and does not block those behind it.
func (s *Store) beginBare(ctx context.Context, h *sessions.Header, head eventlog.Head, queue run.Queue, cause error) error {
	start := queue.Starts[0].Start(h.User, h.ID())
	bare := make([]session.Event, len(start.Input))
	for i, e := range start.Input {
		bare[i] = session.Event{Author: e.Author, Fields: e.Fields}
	}
	start.Input = bare
	if _, err := s.beginQueued(ctx, h, head, queue, start, false); err != nil {
		return errors.Join(cause, err)
	}
	var f *fault.Error
	errors.As(cause, &f)
	_, err := s.End(ctx, start.Ref, run.Failed, run.NewProblem(run.CodeContent, "the queued input cannot be stored as it was sent: "+f.Detail))
	if errors.Is(err, fault.Of(fault.Conflict)) {
		return nil // it was cancelled
	}
	return err
}

// queueGrace is how long after its latest change a queue is left to the function that
// follows the table's stream.
const queueGrace = 10 * time.Second

// SweepQueues calls start for each session with queued starts and returns how many
// runs began. Start reports whether it began one; it must do nothing while a run is
// active.
func (s *Store) SweepQueues(
	ctx context.Context, start func(ctx context.Context, userID, sessionID string) (bool, error),
) (int, error) {
	return sweep.EachShard(ctx, queueShards, queueShard, func(ctx context.Context, shard string) (int, error) {
		return sweep.Due(ctx, s.Base, shard, s.Millis()-queueGrace.Milliseconds(), func(ctx context.Context, k table.Key) (bool, error) {
			return s.sweepQueue(ctx, k, start)
		})
	})
}

// sweepQueue visits one queue. The rest of one whose session is deleted while forks
// keep its log is removed.
func (s *Store) sweepQueue(
	ctx context.Context, k table.Key, start func(ctx context.Context, userID, sessionID string) (bool, error),
) (bool, error) {
	var item QueueItem
	if found, err := s.DB.Get(ctx, k, &item); err != nil || !found || item.GPK == "" {
		return false, err
	}
	h, err := s.sessions.Header(ctx, item.User, item.Session)
	gone := errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden))
	switch {
	case gone, err == nil && keys.LogPK(h.Log) != item.PK:
		return false, records.Ignoring(s.DB.Delete(ctx, k, table.Equal(table.Path{attrQueueVersion}, item.Version)), table.ErrConditionFailed)
	case err != nil:
		return false, fmt.Errorf("check the queue of session %s: %w", item.Session, err)
	case h.Queued == 0:
		return false, nil
	}
	return start(ctx, item.User, item.Session)
}
