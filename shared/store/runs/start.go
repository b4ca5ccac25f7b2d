package runs

import (
	"cmp"
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Start implements run.Store. It is one transaction, which also ends the run that
// the new one replaces and discards its events, or those of a failed run: either
// all of it happens or nothing, wherever the caller stops.
func (s *Store) Start(ctx context.Context, start run.Start) (r run.Run, err error) {
	err = records.ContendedBriefly(ctx, func() (err error) {
		r, err = s.start(ctx, start)
		return err
	})
	return r, err
}

// start tries once; table.ErrConditionFailed if the session changed concurrently.
func (s *Store) start(ctx context.Context, start run.Start) (run.Run, error) {
	h, head, a, err := s.ReadSettled(ctx, start.UserID, start.SessionID)
	if err != nil {
		return run.Run{}, err
	}
	if a != nil && a.ID == start.RunID {
		return a.Run(), nil // an earlier attempt
	}
	// An earlier attempt may have been cancelled since, by a run that took over its
	// input: that run must not be cancelled in turn.
	if past, err := s.PastRun(ctx, h, start.RunID); past != nil || err != nil {
		return records.Deref(past), s.sessions.NotFoundIfDeleted(ctx, h, err)
	}
	read := s.ReadableQueue
	if start.OnActive == run.Enqueue {
		read = s.neededQueue
	}
	queue, err := read(ctx, h)
	if err != nil {
		return run.Run{}, err
	}
	if r := queue.Find(start.Ref); r != nil {
		return *r, nil // it waits, or was removed
	}
	if err := eventlog.ExpectHead(start.ExpectedSeq, head); err != nil {
		return run.Run{}, err
	}
	if start.OnFailed == "" {
		start.OnFailed = s.onFailed(cmp.Or(start.Agent, h.Agent))
	}
	plan, err := start.Plan(before(h, a, queue))
	if err != nil {
		return run.Run{}, err
	}
	if plan.Enqueues {
		return s.enqueue(ctx, h, head, a, queue, start)
	}
	b := s.newStart(ctx, h, head, a, start, plan)
	if len(plan.Merges) > 0 {
		b.queue = s.changeQueue(h, head, queue.Merge(s.Millis()))
	}
	r, err := b.begin(ctx)
	return r, s.sessions.NotFoundIfDeleted(ctx, h, err)
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

// newStart returns the start of a run; before is the run that is cancelled for it,
// nil if none is active.
func (s *Store) newStart(
	ctx context.Context, h *sessions.Header, head eventlog.Head, before *ActiveRun, start run.Start, plan run.StartPlan,
) *runStart {
	return &runStart{s: s, h: h, head: head, before: before, start: start, plan: plan, newest: s.sessions.CheckOnTop(ctx, h)}
}

// begin writes the start.
func (b *runStart) begin(ctx context.Context) (run.Run, error) {
	s, h, id := b.s, b.h, b.start.RunID
	if err := b.prepare(ctx); err != nil {
		return run.Run{}, err
	}
	if err := s.sessions.AdmitBytes(ctx, h.User); err != nil {
		return run.Run{}, err
	}
	if err := s.slots.takeSlot(ctx, h, id, b.before != nil); err != nil {
		return run.Run{}, err
	}
	write := b.append
	if b.plan.Discards != "" || b.plan.Cancels != "" {
		write = b.replace
	}
	if err := write(ctx); err != nil {
		s.slots.releaseUnstarted(ctx, h, id, err)
		return run.Run{}, fmt.Errorf("start run %s: %w", id, err)
	}
	if b.before != nil && b.before.Slot {
		s.slots.releaseSlot(ctx, b.before.User, h.Log, b.before.ID)
	}
	return b.run.Run(), nil
}

// stillFree returns nil if a run may still begin; table.ErrConditionFailed if the
// session is not as it was read.
func (s *Store) stillFree(ctx context.Context, was *sessions.Header, start run.Start) error {
	h, err := s.sessions.Header(ctx, start.UserID, start.SessionID)
	if err != nil {
		return err
	}
	if h.Run != "" || h.Log != was.Log || h.Epoch != was.Epoch || h.UnfinishedRun != was.UnfinishedRun || h.PendingAt != was.PendingAt ||
		h.QueueVersion != was.QueueVersion {
		return table.ErrConditionFailed
	}
	return nil
}
