package sessions

import (
	"context"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// beginning is a run that is about to begin in a session as it was read.
type beginning struct {
	s      *Store
	h      *header
	at     head
	before *activeRun // cancelled for it, and merged; nil where none is active
	start  run.Start
	newest func() (bool, error)

	run   *activeRun
	input []session.Event // what it takes over, and its own
}

// prepare makes the run and its input.
func (b *beginning) prepare(ctx context.Context) error {
	owed, err := b.owed(ctx)
	if err != nil {
		return err
	}
	if err := b.mergeable(owed); err != nil {
		return err
	}
	b.input = append(owed, b.start.Input...)
	for i := range b.input {
		b.input[i].InvocationID = b.start.RunID
	}
	now, k := b.s.millis(), runKey(b.h.Log)
	b.run = &activeRun{
		PK: k.PK, SK: k.SK, ID: b.start.RunID, User: b.h.User, Session: b.h.id(), Agent: b.start.Agent,
		Mode: b.start.Mode, Started: now, Lease: now + b.s.lease.Milliseconds(), Chain: b.start.Chain,
		GPK: runIndexPK(b.h.Log), GSK: activitySK(now, b.h.Log), Slot: b.s.quotas.Runs > 0, Taken: int64(len(owed)),
	}
	if b.run.Agent == "" {
		b.run.Agent = b.h.Agent
	}
	if b.run.Mode == run.External {
		b.run.Worker = string(run.External)
	}
	return nil
}

// spent is the run whose events make way; "" where there is none.
func (b *beginning) spent() string {
	if b.before != nil {
		return b.before.ID
	}
	return b.h.Spent
}

// owed are the events that the run takes over: the input of the run that it
// cancels, or what was accepted before and is still without a run. They come in
// the order in which they were accepted, as that run took over others itself.
func (b *beginning) owed(ctx context.Context) ([]session.Event, error) {
	at, count := b.h.OwedAt, b.h.Owed
	if b.before != nil {
		at, count = b.before.At, 0
	}
	if at == 0 {
		return nil, nil
	}
	rec, err := b.s.covering(ctx, b.h.Log, at)
	if err != nil {
		return nil, err
	}
	events := rec.events
	if count > 0 {
		events = events[:min(count, int64(len(events)))]
	}
	owed := make([]session.Event, len(events), len(events)+len(b.start.Input))
	for i, e := range events {
		owed[i] = session.Event{
			Author: e.Author, StateDelta: e.StateDelta, ArtifactDelta: e.ArtifactDelta, Fields: e.Fields,
		}
	}
	return owed, nil
}

// mergeable refuses to merge more and more into one input: it is read and
// written as a whole. The run that is active goes on then.
func (b *beginning) mergeable(owed []session.Event) error {
	if b.before == nil {
		return nil
	}
	bytes := 0
	for _, e := range slices.Concat(owed, b.start.Input) {
		bytes += e.Size()
	}
	if n := len(owed) + len(b.start.Input); n > run.MaxMerged || bytes > session.PageBytes {
		return fault.New(fault.Conflict, "the input of the active run has grown too large to be merged: let the run end").
			With("run_id", b.before.ID)
	}
	return nil
}

// append writes the start where nothing is in its way.
func (b *beginning) append(ctx context.Context) error {
	w := b.writer()
	w.check = func(ctx context.Context) error { return b.s.stillFree(ctx, b.h, b.start) }
	w.with = func() ([]table.Write, error) { return b.taking(w, nil) }
	_, err := w.run(ctx)
	return err
}

// writer appends the input.
func (b *beginning) writer() *writer {
	w := b.s.newWriter(b.h, b.input)
	w.marks = func(e *entry) { e.Began, e.attribution = b.run.ID, b.run.attribution() }
	return w
}

// taking are the writes that make the session the run's, beside its input. The
// marker is that of the discard which goes along, nil without.
func (b *beginning) taking(w *writer, m *marker) ([]table.Write, error) {
	b.run.At = w.at.next
	there := table.ItemNotExists()
	if b.before != nil {
		there = isRun(b.before)
	}
	take, err := b.takeSession(m)
	return []table.Write{table.Put(b.run, there), take}, err
}

// takeSession is the change of the header: it is as it was read until then.
func (b *beginning) takeSession(m *marker) (table.Write, error) {
	same := []table.Condition{
		b.h.sameLog(), unchanged(headerRun, b.h.Run), unchanged(headerSpent, b.h.Spent), unchanged(headerOwedAt, b.h.OwedAt),
	}
	changes := []table.Change{
		table.Set(table.At(headerRun), b.run.ID), table.Set(table.At(headerStatus), session.InProgress),
		table.Remove(table.At(headerSpent)), table.Remove(table.At(headerOwedID)),
		table.Remove(table.At(headerOwedAt)), table.Remove(table.At(headerOwed)),
	}
	if m != nil {
		moves, unmoved := m.moveOn()
		changes, same = append(changes, moves...), append(same, unmoved)
	}
	if len(b.start.Chain) == 0 {
		changes = append(changes, table.Remove(table.At(headerCause)))
	} else {
		changes = append(changes, table.Set(table.At(headerCause), b.start.Chain))
	}
	up, err := b.h.movedUp(b.newest, b.run.Started)
	return table.Update(sessionKey(b.h.id()), append(changes, up...), same...), err
}
