package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

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
)

// Append appends the events that are not in the log yet.
func (s *Store) Append(ctx context.Context, l Log, events []session.Event, with Along) (Appended, error) {
	w := s.newWriter(l, events, with)
	n, err := w.run(ctx)
	return Appended{Events: w.events, Fresh: n, Head: w.head, Last: w.last}, err
}

// writer appends a batch to a log.
type writer struct {
	batch

	state     *StateChange // that of the head, if it has been read
	recalled  bool         // whether the next attempt follows a remembered head
	read      time.Time    // when the head was last read, at the latest
	tentative records.Body // of the last attempt
	last      *Record      // what was appended
	race      race
}

func (s *Store) newWriter(l Log, events []session.Event, with Along) *writer {
	with.Patience = cmp.Or(with.Patience, ContentionTime)
	return &writer{read: s.Now(), batch: s.newBatch(l, events, with)}
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
	if w.mayBeStored() {
		if err := w.findRedelivered(ctx); err != nil {
			return 0, err
		}
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

// findHead finds the head that the first attempt follows.
func (w *writer) findHead(ctx context.Context) error {
	if w.From != nil || (w.Remembers && w.recall()) {
		return nil
	}
	w.read = w.s.Now()
	head, err := w.s.ReadHead(ctx, w.log)
	w.From = &head
	return err
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
		w.race.began = time.Now()
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

// headBytes is how much of a body an entry holds itself. Each append reads the newest
// entry, so a longer body is stored beside it, in chunks, and the next append does not
// pay for it (docs/adr/0052-many-writers-and-large-entries.md).
const headBytes = 32 << 10

// packNew packs the body of an entry, whose last event has the invocation. The chunks of an
// attempt that loses its position are written in vain, so only the first attempt stores a
// long body beside the entry if an item can hold it.
func (w *writer) packNew(ctx context.Context, r *Record, body EntryBody, invocation string) error {
	encoded, err := w.s.content.Encode(body)
	if err != nil {
		return fmt.Errorf("encode an entry: %w", err)
	}
	inline := headBytes
	if w.race.losses > 0 {
		inline = records.ChunkBytes
	}
	if r.Body, err = w.s.content.PackEncoded(ctx, r.PK, encoded, inline, 0); err != nil {
		return err
	}
	if r.Blob != "" {
		r.Time, r.Invocation = body.Time, invocation
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

// confirm checks that the session still has the log, if the writer has not read the log's
// head just before: otherwise what was appended is lost, and is not acknowledged. The log
// is then swept again, since the entry may have come after the last sweep.
func (w *writer) confirm(ctx context.Context) error {
	if !w.recalled && w.s.Now().Sub(w.read) < heldTime {
		return nil
	}
	return w.s.owner.Holds(ctx, w.log)
}

// A warm instance that has written a log's newest entry knows the log's head, and can put
// the next entry without a read. If another writer was faster, the position is taken, as
// after any lost race. The attempt has then cost the entry's write units in vain, so a head
// is used only if the instance seems to be the log's only writer. Whether the session was
// deleted is read after the put (docs/adr/0065-an-append-is-confirmed-by-the-header.md).

const (
	// heldTime is how long after a read of the head the put of an entry needs no
	// confirmation: a deletion holds the position after the head, and every one that an
	// entry had, for sweep.Grace. No request lasts as long, unless its instance is frozen.
	heldTime = time.Minute
	// An instance uses a head after it has written leastInRow entries directly after its own,
	// and needs inRowGrowth times as many after each head that was wrong, up to mostInRow:
	// where several instances write in turn, few attempts are in vain.
	leastInRow  = 2
	inRowGrowth = 4
	mostInRow   = 64
)

// recall takes the head that the first attempt follows from the instance's memory, and
// reports whether there is one that may be used.
func (w *writer) recall() bool {
	w.s.headCache.Change(w.log.Name, func(k knownHead) knownHead {
		if k.usable() {
			head := k.head
			w.From, w.recalled, k.taken = &head, true, true
		}
		return k
	})
	return w.recalled
}

// remember keeps the head that the writer has left behind.
func (w *writer) remember() {
	w.s.headCache.Change(w.log.Name, func(k knownHead) knownHead {
		if w.last == nil { // everything was stored before
			k.taken = k.taken && !w.recalled
			return k
		}
		next := knownHead{head: w.head.withoutEvents(), needed: max(leastInRow, k.needed)}
		if k.head.Next == w.last.First {
			next.inRow = k.inRow + 1
		}
		return next
	})
}

// knownHead is the head that an instance has left behind.
type knownHead struct {
	head   Head
	taken  bool // by an append; others would put their entries at the same position
	inRow  int  // entries of this instance that directly followed its previous one
	needed int  // before the head is used; 0 if there is none
}

func (k knownHead) usable() bool { return k.needed > 0 && !k.taken && k.inRow >= k.needed }

// Recalls reports whether the next append may follow a head that the instance remembers.
func (s *Store) Recalls(log string) bool {
	k, ok := s.headCache.Get(log)
	return ok && k.usable()
}

// withoutEvents returns the head with no more of its latest entry than appends need.
func (h Head) withoutEvents() Head {
	if r := h.Latest; r != nil {
		marks := Entry{InvocationFrom: r.InvocationFrom, NextNumber: r.NextNumber}
		h.Latest = &Record{Entry: marks, First: r.First, WithoutBody: true}
	}
	return h
}
