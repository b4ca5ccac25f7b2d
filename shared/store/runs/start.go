package runs

import (
	"cmp"
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
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

// runStart is a run that is about to begin in a session as it was read.
type runStart struct {
	s      *Store
	h      *sessions.Header
	head   eventlog.Head
	before *ActiveRun // cancelled for it, and merged; nil if none is active
	start  run.Start
	plan   run.StartPlan
	newest func() (bool, error)
	// queue is the change of the session's queue that belongs to the start, nil for
	// none; queued says that the start is the first of that queue.
	queue  *queueChange
	queued bool

	run   *ActiveRun
	input []session.Event // what it takes over, then its own
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
	if b.run.Slot {
		if err := s.slots.takeSlot(ctx, h, id, b.before != nil); err != nil {
			return run.Run{}, err
		}
	}
	write := b.append
	if b.plan.Discards != "" || b.plan.Cancels != "" {
		write = b.replace
	}
	if err := write(ctx); err != nil {
		if b.run.Slot {
			s.slots.releaseUnstarted(ctx, h, id, err)
		}
		return run.Run{}, fmt.Errorf("start run %s: %w", id, err)
	}
	if b.before != nil && b.before.Slot {
		s.slots.releaseSlot(ctx, b.before.User, h.Log, b.before.ID)
	}
	return b.run.Run(), nil
}

// prepare builds the run and its input.
func (b *runStart) prepare(ctx context.Context) error {
	taken, err := b.taken(ctx)
	if err != nil {
		return err
	}
	if b.input, err = b.start.InputOf(b.plan, taken); err != nil {
		return err
	}
	now, k := b.s.Millis(), keys.RunKey(b.h.Log)
	b.run = &ActiveRun{
		PK: k.PK, SK: k.SK, ID: b.start.RunID, User: b.h.User, Session: b.h.ID(), Agent: b.start.Agent,
		Mode: b.start.Mode, Started: now, Claim: Claim{Lease: now + b.s.lease.Milliseconds()}, Chain: b.start.Chain,
		GPK: runIndexPK(b.h.Log), GSK: keys.ActivitySK(now, b.h.Log), Slot: b.s.slots.usage.Quotas.Runs > 0, Taken: int64(len(b.input) - len(b.start.Input)),
		Kept: b.start.OnFailed == run.Keep, Waited: b.start.QueuedTime,
	}
	if b.queued {
		b.run.Queued, b.run.Taken = true, int64(len(b.input))
	}
	if b.run.Agent == "" {
		b.run.Agent = b.h.Agent
	}
	if b.run.Mode == run.External {
		b.run.Worker = string(run.External)
	}
	return nil
}

// taken reads the events that the run takes over, if any.
func (b *runStart) taken(ctx context.Context) ([]session.Event, error) {
	if b.plan.Takes == 0 {
		return nil, nil
	}
	rec, err := b.s.logs.EntryCovering(ctx, b.h.Log, b.plan.Takes)
	if err != nil {
		return nil, err
	}
	return rec.Events, nil
}

// append writes a start without another run to replace.
func (b *runStart) append(ctx context.Context) error {
	with := b.along()
	with.Expected, with.From = b.start.ExpectedSeq, &b.head
	losses := -1
	with.Check = func(ctx context.Context, _ eventlog.Head) error {
		if losses++; losses == 0 {
			return nil // as it was read, which the transaction checks
		}
		return b.s.stillFree(ctx, b.h, b.start)
	}
	with.Writes = func(head eventlog.Head) ([]table.Write, error) { return b.activationWrites(head, nil) }
	_, err := b.s.logs.Append(ctx, b.h.OfLog(), b.input, with)
	return err
}

// along is what the input takes along in any case.
func (b *runStart) along() eventlog.Along {
	return eventlog.Along{Begins: b.run.ID, Annotate: func(_ eventlog.Head, e *eventlog.Entry) { e.Began, e.Attribution = b.run.ID, b.run.attribution() }}
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

// activationWrites returns the writes that make the run active, besides its input. m is the
// marker of a discard in the same transaction, nil for none. While the header names no
// run, an item of one is a rest that the new one replaces.
func (b *runStart) activationWrites(head eventlog.Head, m *history.Marker) ([]table.Write, error) {
	b.run.Position = head.Next
	var was []table.Condition
	if b.before != nil {
		was = append(was, isRun(b.before))
	}
	take, err := b.activate(m)
	if err != nil {
		return nil, err
	}
	writes := []table.Write{table.Put(b.run, was...), take}
	if b.queue != nil {
		put, err := b.queue.put()
		return append(writes, put), err
	}
	return writes, nil
}

// activate is the change of the header, if that is still as it was read.
func (b *runStart) activate(m *history.Marker) (table.Write, error) {
	same := []table.Condition{
		b.h.SameLog(), records.Unchanged(sessions.HeaderRun, b.h.Run), records.Unchanged(sessions.HeaderUnfinishedRun, b.h.UnfinishedRun), records.Unchanged(sessions.HeaderPendingAt, b.h.PendingAt),
		records.Unchanged(sessions.HeaderQueueVersion, b.h.QueueVersion),
	}
	changes := []table.Change{
		table.Set(table.Path{sessions.HeaderRun}, b.run.ID), table.Set(table.Path{sessions.HeaderStatus}, session.InProgress),
		table.Remove(table.Path{sessions.HeaderUnfinishedRun}), table.Remove(table.Path{sessions.HeaderKeptRun}),
		table.Remove(table.Path{sessions.HeaderPendingAt}), table.Remove(table.Path{sessions.HeaderPendingEvents}), table.Remove(table.Path{sessions.HeaderContinued}),
	}
	if m != nil {
		moves, unmoved := m.MoveOn()
		changes, same = append(changes, moves...), append(same, unmoved)
	}
	if b.queue != nil {
		changes = append(changes, b.queue.header()...)
	}
	if len(b.start.Chain) == 0 {
		changes = append(changes, table.Remove(table.Path{sessions.HeaderCausedBy}))
	} else {
		changes = append(changes, table.Set(table.Path{sessions.HeaderCausedBy}, b.start.Chain))
	}
	up, err := b.h.ActivityChanges(b.newest, b.run.Started)
	return table.Update(keys.SessionKey(b.h.ID()), append(changes, up...), same...), err
}
