package eventlog

import (
	"context"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// try puts the fresh events at the head.
func (w *writer) try(ctx context.Context, fresh []int) error {
	if err := w.boundInvocations(ctx, fresh); err != nil {
		return err
	}
	content := EntryBody{Time: max(w.s.Millis(), w.at.Time), Task: w.Task}
	seq := w.at.Next
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
		PK: keys.LogPK(w.log.Name), SK: keys.EntrySK(seq), LastState: w.at.LastState, LastMarker: w.at.LastMarker,
		RunMarks: w.at.Marks(),
	}, First: seq, When: content.Time}
	w.markOpening(r, fresh)
	if w.Annotate != nil {
		w.Annotate(w.at, &r.Entry)
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
			if change, err = w.s.LoadStates(ctx, w.log, w.at, changes...); err != nil {
				return err
			}
		}
		for _, delta := range changes {
			content.Undo = append(content.Undo, change.Apply(delta))
		}
		if err := change.Check(); err != nil {
			return err
		}
		r.PrevState, r.LastState = w.at.LastState, r.First
	}
	if err = w.packNew(ctx, r, content, w.events[fresh[len(fresh)-1]].InvocationID); err != nil {
		return err
	}
	w.s.PendingBytes(&r.Entry, w.at, r.Size())
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
		if more, err = w.Writes(w.at); err != nil {
			return err
		}
	}
	if len(more) == 0 && (change == nil || !change.shared()) {
		return w.s.DB.Put(ctx, r.Entry, table.ItemNotExists())
	}
	if change != nil {
		shared, err := w.s.SharedPuts(ctx, change)
		if err != nil {
			return err
		}
		more = append(more, shared...)
	}
	return w.s.DB.Transact(ctx, append(more, table.Put(r.Entry, table.ItemNotExists()))...)
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
