package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// runStart is a run that is about to begin in a session as it was read.
type runStart struct {
	s      *Store
	h      *header
	at     head
	before *activeRun // cancelled for it, and merged; nil if none is active
	start  run.Start
	plan   run.StartPlan
	newest func() (bool, error)
	// queue is the change of the session's queue that belongs to the start, nil for
	// none; queued says that the start is the first of that queue.
	queue  *queueChange
	queued bool

	run   *activeRun
	input []session.Event // what it takes over, then its own
	ahead string          // identifies the run's item if it was put before the transaction, else ""
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
	now, k := b.s.millis(), keys.RunKey(b.h.Log)
	b.run = &activeRun{
		PK: k.PK, SK: k.SK, ID: b.start.RunID, User: b.h.User, Session: b.h.id(), Agent: b.start.Agent,
		Mode: b.start.Mode, Started: now, Lease: now + b.s.lease.Milliseconds(), Chain: b.start.Chain,
		GPK: runIndexPK(b.h.Log), GSK: keys.ActivitySK(now, b.h.Log), Slot: b.s.quotas.Runs > 0, Taken: int64(len(b.input) - len(b.start.Input)),
		Kept: b.start.OnFailed == run.Keep,
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
	rec, err := b.s.entryCovering(ctx, b.h.Log, b.plan.Takes)
	if err != nil {
		return nil, err
	}
	return rec.events, nil
}

// append writes a start without another run to replace.
func (b *runStart) append(ctx context.Context) error {
	with := b.along()
	with.expected, with.from, with.ahead = b.start.ExpectedSeq, &b.at, b.putAhead
	losses := -1
	with.check = func(ctx context.Context, _ head) error {
		if losses++; losses == 0 {
			return nil // as it was read, which the transaction checks
		}
		return b.s.stillFree(ctx, b.h, b.start)
	}
	with.writes = func(at head) ([]table.Write, error) { return b.activationWrites(at, nil) }
	_, err := b.s.appendToLog(ctx, b.h.ofLog(), b.input, with)
	return err
}

// along is what the input takes along in any case.
func (b *runStart) along() along {
	return along{begins: b.run.ID, annotate: func(_ head, e *entry) { e.Began, e.attribution = b.run.ID, b.run.attribution() }}
}

// activationWrites returns the writes that make the run active, besides its input. m is the
// marker of a discard in the same transaction, nil for none. While the header names no
// run, an item of one is a rest that the new one replaces.
func (b *runStart) activationWrites(at head, m *marker) ([]table.Write, error) {
	take, err := b.activate(m)
	if err != nil {
		return nil, err
	}
	writes := []table.Write{take}
	if !b.isAhead(at.next) {
		b.run.At, b.run.Ahead = at.next, ""
		var was []table.Condition
		if b.before != nil {
			was = append(was, isRun(b.before))
		}
		writes = append(writes, table.Put(b.run, was...))
	}
	if b.queue != nil {
		put, err := b.queue.put()
		return append(writes, put), err
	}
	return writes, nil
}

// activate is the change of the header, if that is still as it was read.
func (b *runStart) activate(m *marker) (table.Write, error) {
	same := []table.Condition{
		b.h.sameLog(), records.Unchanged(headerRun, b.h.Run), records.Unchanged(headerUnfinishedRun, b.h.UnfinishedRun), records.Unchanged(headerPendingAt, b.h.PendingAt),
		records.Unchanged(headerQueueVersion, b.h.QueueVersion),
	}
	changes := []table.Change{
		table.Set(table.At(headerRun), b.run.ID), table.Set(table.At(headerStatus), session.InProgress),
		table.Remove(table.At(headerUnfinishedRun)), table.Remove(table.At(headerKeptRun)), table.Remove(table.At(headerPendingID)),
		table.Remove(table.At(headerPendingAt)), table.Remove(table.At(headerPendingEvents)), table.Remove(table.At(headerContinued)),
	}
	if m != nil {
		moves, unmoved := m.moveOn()
		changes, same = append(changes, moves...), append(same, unmoved)
	}
	if b.queue != nil {
		changes = append(changes, b.queue.header()...)
	}
	if len(b.start.Chain) == 0 {
		changes = append(changes, table.Remove(table.At(headerCausedBy)))
	} else {
		changes = append(changes, table.Set(table.At(headerCausedBy), b.start.Chain))
	}
	up, err := b.h.activityChanges(b.newest, b.run.Started)
	return table.Update(keys.SessionKey(b.h.id()), append(changes, up...), same...), err
}
