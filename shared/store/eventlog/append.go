package eventlog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// AppendTime is how long a request to append competes with others before it returns
	// fault.Busy: its client had better wait and send it again.
	AppendTime = 4 * time.Second
	// ContentionTime is the same for workers of runs and for work that appends along
	// with other changes.
	ContentionTime = 20 * time.Second
	// ContentionWait is the maximum wait between two attempts of work that is not an
	// append and whose conflicts are short.
	ContentionWait = 40 * time.Millisecond
)

// Append appends the events that are not in the log yet.
func (s *Store) Append(ctx context.Context, l Log, events []session.Event, with Along) (Appended, error) {
	w := s.newWriter(l, events, with)
	n, err := w.run(ctx)
	return Appended{Events: w.events, Fresh: n, Head: w.head, Last: w.last}, err
}

// AppendBehind appends events behind other entries of the same transaction, which before
// returns together with the state after them; with.writes holds those entries. It tries once:
// table.ErrConditionFailed if the head is another one, or one of the events is in the log.
func (s *Store) AppendBehind(
	ctx context.Context, l Log, head Head, events []session.Event, with Along, before func() ([]*Record, *StateChange, error),
) (Appended, error) {
	w := s.newWriter(l, events, with)
	w.start(head)
	if err := w.findRedelivered(ctx); err != nil {
		return Appended{}, err
	}
	if w.head.Next != head.Next || len(w.fresh()) < len(events) {
		return Appended{}, table.ErrConditionFailed
	}
	entries, state, err := before()
	if err != nil {
		return Appended{}, err
	}
	// If this attempt fails, the events may be appended at the head as it was read.
	w.boundAt, w.state = head.Next, state
	for _, r := range entries {
		w.pass(r)
	}
	end := w.head.Next
	if err := w.claimIDs(ctx); err != nil {
		return Appended{}, err
	}
	if w.head.Next != end || len(w.fresh()) < len(events) {
		return Appended{}, table.ErrConditionFailed
	}
	if err := w.try(ctx, w.fresh()); err != nil {
		if errors.Is(err, table.ErrConditionFailed) {
			w.discardTentative(ctx)
		}
		return Appended{}, err
	}
	return Appended{Events: w.events, Fresh: len(events), Head: w.head, Last: w.last}, nil
}

// run appends the events that are not in the log yet and returns how many.
func (w *writer) run(ctx context.Context) (int, error) {
	if err := w.findHead(ctx); err != nil {
		return 0, err
	}
	w.start(*w.From)
	if err := w.allowed(ctx); err != nil {
		return 0, err
	}
	if err := w.findRedelivered(ctx); err != nil {
		return 0, err
	}
	appended, err := w.compete(ctx)
	if err == nil {
		err = w.confirm(ctx)
	}
	if err == nil && w.Remembers {
		w.remember()
	}
	return appended, err
}

// allowed decides, after the head was read, whether the batch may be appended.
// Anything that would forbid it takes a position of its own, so an allowed batch is
// either written before that or finds its position taken.
func (w *writer) allowed(ctx context.Context) error {
	if w.Check == nil {
		return nil
	}
	return w.Check(ctx, w.head)
}

// compete puts the batch at the head, and again after the new head as long as other
// writers are faster.
func (w *writer) compete(ctx context.Context) (appended int, err error) {
	deadline, lost := w.s.Now().Add(w.Patience), false
	w.race.patience, w.race.until = w.Patience, time.Now().Add(w.Patience)
	p := retry.Policy{Max: w.Patience, After: w.race.wait, Reserve: records.AnswerTime}
	err = retry.Do(ctx, p, func(error) bool { return lost }, func() error {
		w.race.begin()
		if lost {
			lost = false
			done, err := w.lostRace(ctx, deadline)
			if w.recalled { // what it found may have been appended by earlier requests
				w.recalled, appended = false, len(w.fresh())
			}
			if err != nil || done {
				return err
			}
		}
		fresh := w.fresh()
		appended = len(fresh)
		err := w.tryOnce(ctx, fresh)
		if lost = errors.Is(err, table.ErrConditionFailed); lost {
			w.lose()
		}
		return err
	})
	if err != nil {
		return 0, records.Exhausted(err)
	}
	return appended, nil
}

// tryOnce puts the fresh events at the head, if there are any and the head is the
// expected one.
func (w *writer) tryOnce(ctx context.Context, fresh []int) error {
	if len(fresh) == 0 {
		return nil
	}
	if err := ExpectHead(w.Expected, w.head); err != nil {
		return err
	}
	err := w.try(ctx, fresh)
	switch {
	case err == nil:
		w.s.CountEntry(ctx, w.log, w.last)
	case errors.Is(err, table.ErrConditionFailed):
		metrics.Count(ctx, metrics.Conflicts, 1)
	}
	return err
}

// try puts the fresh events at the head.
func (w *writer) try(ctx context.Context, fresh []int) error {
	if err := w.boundInvocations(ctx, fresh); err != nil {
		return err
	}
	content := EntryBody{Time: max(w.s.Millis(), w.head.Time), Task: w.Task}
	seq := w.head.Next
	for n, i := range fresh {
		e := &w.events[i]
		e.Seq, e.CreatedTime, e.Status = seq+int64(n), content.Time, session.EventCompleted
		if w.random[i] != uuid.Nil {
			e.ID = session.PositionalID(e.Seq, w.random[i])
			w.tried[e.ID] = i
		}
		content.Events = append(content.Events, e.Own())
	}
	r := &Record{Entry: Entry{
		PK: keys.LogPK(w.log.Name), SK: keys.EntrySK(seq), LastState: w.head.LastState, LastMarker: w.head.LastMarker,
		RunMarks: w.head.Marks(),
	}, First: seq, When: content.Time}
	w.markOpening(r, fresh)
	if w.Annotate != nil {
		w.Annotate(w.head, &r.Entry)
	}
	if len(fresh) > 1 {
		r.Count = int64(len(fresh))
	}
	if err := w.put(ctx, r, content, fresh); err != nil {
		return err
	}
	for _, i := range fresh {
		r.Events = append(r.Events, w.events[i])
	}
	w.pass(r)
	w.last = r
	return nil
}

// put writes the entry, together with the state that it changes.
func (w *writer) put(ctx context.Context, r *Record, content EntryBody, fresh []int) error {
	change := w.state
	var err error
	if changes := w.changes(fresh); changes != nil {
		if change == nil {
			if change, err = w.s.LoadStates(ctx, w.log, w.head, changes...); err != nil {
				return err
			}
		}
		for _, delta := range changes {
			content.Undo = append(content.Undo, change.Apply(delta))
		}
		if err := change.Check(); err != nil {
			return err
		}
		r.PrevState, r.LastState = w.head.LastState, r.First
	}
	if err = w.packNew(ctx, r, content, w.events[fresh[len(fresh)-1]].InvocationID); err != nil {
		return err
	}
	w.s.PendingBytes(&r.Entry, w.head, r.Size())
	if w.Limited && r.Counts {
		if err := w.s.owner.AdmitBytes(ctx, w.log.User); err != nil {
			return err
		}
	}
	if err = w.store(ctx, r, change); err != nil {
		w.tentative = r.Body // it may have been written and only its answer lost
		return err
	}
	if r.LastState == r.First {
		w.s.Checkpoint(ctx, w.log.Name, r.First, change.Values)
	}
	return nil
}

// store writes the entry, in one transaction with the shared state it changes and
// with those that come along.
func (w *writer) store(ctx context.Context, r *Record, change *StateChange) error {
	var more []table.Write
	var err error
	if w.Writes != nil {
		if more, err = w.Writes(w.head); err != nil {
			return err
		}
	}
	if len(more) == 0 && (change == nil || !change.shared()) {
		return w.s.DB.Put(ctx, r.Entry, table.ItemNotExists())
	}
	more = append(more, table.Put(r.Entry, table.ItemNotExists()))
	if change == nil || !change.shared() {
		return w.s.DB.Transact(ctx, more...)
	}
	shared, err := w.s.SharedPuts(ctx, change)
	if err != nil {
		return err
	}
	return w.storeShared(ctx, append(more, shared...))
}

// storeShared writes an entry and the shared state that it changes, if the session still has
// the log: nothing clears what an entry of a deleted session has written elsewhere.
func (w *writer) storeShared(ctx context.Context, writes []table.Write) error {
	holds := w.s.owner.StillHolds(w.log)
	if slices.ContainsFunc(writes, func(o table.Write) bool { return o.Key == holds.Key }) { // on that condition, too
		return w.s.DB.Transact(ctx, writes...)
	}
	err := w.s.DB.Transact(ctx, append(writes, holds)...)
	var failed *table.ConditionError
	if !errors.As(err, &failed) || !slices.ContainsFunc(failed.Failures, func(f table.Failure) bool { return f.Write == len(writes) }) {
		return err
	}
	return cmp.Or(w.s.owner.Holds(ctx, w.log), err)
}

// changes returns the state changes of the fresh events; nil if there are none.
func (w *writer) changes(fresh []int) []session.Delta {
	all, some := make([]session.Delta, len(fresh)), false
	for n, i := range fresh {
		all[n] = w.events[i].Change()
		some = some || len(all[n]) > 0
	}
	if !some {
		return nil
	}
	return all
}

// lose ends an attempt whose position was taken. One that followed a remembered head says
// nothing about other writers of this moment, so the next one need not wait.
func (w *writer) lose() {
	if w.recalled {
		w.misremembered()
		return
	}
	w.race.lose()
}

// lostRace reads what was appended concurrently; done means that it was this batch.
// Otherwise the batch may be tried again, unless it is not allowed any more or has
// competed for too long.
func (w *writer) lostRace(ctx context.Context, deadline time.Time) (done bool, err error) {
	if done, err = w.catchUp(ctx); err != nil || done {
		return done, err
	}
	w.discardTentative(ctx)
	if err := w.allowed(ctx); err != nil {
		return false, err
	}
	if err := w.claimIDs(ctx); err != nil {
		return false, err
	}
	if w.s.Now().After(deadline) {
		return false, records.Busy("too many writers append to this session")
	}
	return false, nil
}

// catchUp reads what was appended since the head was read, and reports whether it
// was this very batch, from an attempt whose answer was lost.
func (w *writer) catchUp(ctx context.Context) (done bool, err error) {
	w.read = w.s.Now()
	all := func() int { return 0 }
	err = w.s.queryRecords(ctx, EntryQuery(w.log.Name, w.head.Next, 0, true), all, func(r *Record) (bool, error) {
		w.pass(r)
		before := len(w.fresh())
		err := w.recognise(r)
		if len(w.fresh()) < before && !w.recalled { // otherwise earlier requests appended and counted it
			w.s.CountEntry(ctx, w.log, r)
		}
		return true, err
	})
	return len(w.fresh()) == 0, err
}

// discardTentative removes the chunks of an attempt that is not in the log. Those
// of an attempt with an unknown outcome stay until the session is deleted.
func (w *writer) discardTentative(ctx context.Context) {
	if err := w.s.content.Discard(ctx, keys.LogPK(w.log.Name), w.tentative); err != nil {
		w.s.Log.WarnContext(ctx, "chunks of a failed append stay until the session is deleted", "error", err)
	}
	w.tentative = records.Body{}
}

// ExpectHead returns fault.Conflict, with head_seq, if the head is not the expected
// one; nil expects none.
func ExpectHead(seq *int64, head Head) error {
	if seq == nil || *seq == head.Last() {
		return nil
	}
	return fault.New(fault.SeqConflict, "the head of the log is %d, not %d", head.Last(), *seq).With("head_seq", head.Last())
}
