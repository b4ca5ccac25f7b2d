package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Complete implements run.Item. The entry is rewritten with the whole event; the
// segments are not read any more. State changes of the event take effect at the
// head of the log, by a hidden entry in the same transaction.
func (it *Item) Complete(ctx context.Context, e session.Event) (session.Event, error) {
	begun := it.Begun()
	e.ID, e.InvocationID = begun.ID, begun.InvocationID
	if e.Author == "" {
		e.Author = begun.Author
	}
	return records.ContendedValue(ctx, func() (session.Event, error) { return it.tryComplete(ctx, e) })
}

// tryComplete tries once; table.ErrConditionFailed if the item has changed and is
// still in progress.
func (it *Item) tryComplete(ctx context.Context, e session.Event) (session.Event, error) {
	if it.Stale {
		if err := it.Load(ctx); err != nil {
			return session.Event{}, err
		}
	}
	done, failed := it.complete(ctx, e)
	if !errors.Is(failed, table.ErrConditionFailed) {
		return done, failed
	}
	now, err := it.s.EntryCovering(ctx, it.Log.Name, it.Seq())
	if err != nil {
		return session.Event{}, it.s.DeletedOr(ctx, it.Log.Name, err)
	}
	if !now.InProgress() {
		if stored := now.Events[0]; stored.Status == session.EventCompleted && stored.SameAs(e) {
			return it.shown(stored), nil // this very call, whose answer was lost
		}
		return session.Event{}, it.closed(ctx)
	}
	it.Stale = true
	return session.Event{}, failed
}

func (it *Item) complete(ctx context.Context, e session.Event) (session.Event, error) {
	e.Status = session.EventCompleted
	entry, err := it.FinalEntry(ctx, e, "")
	if err != nil {
		return session.Event{}, err
	}
	switch {
	case len(e.Change()) > 0:
		err = it.completeWithChange(ctx, e, entry)
	case it.Producer.Shared():
		// Without a transaction this costs half. If it is interrupted after the first
		// write, the item accepts no deltas and waits for its completion, or the run's end.
		if err = it.s.DB.Write(ctx, it.Closing()); err == nil {
			err = it.s.DB.Put(ctx, entry, StillInProgress())
		}
	default:
		err = it.s.DB.Put(ctx, entry, StillInProgress())
	}
	e.Seq, e.CreatedTime, e.Deltas = it.Seq(), it.rec.When, it.offset
	return it.shown(e), err
}

func (it *Item) shown(e session.Event) session.Event {
	e.SessionID = it.Log.Session
	return e
}

// StillInProgress is the condition that an item is in progress.
func StillInProgress() table.Condition {
	return table.Equal(table.Path{AttrStatus}, session.EventInProgress)
}

// FinalEntry returns the item's entry in its final form.
func (it *Item) FinalEntry(ctx context.Context, e session.Event, status session.EventStatus) (Entry, error) {
	out := it.rec.Entry
	out.Status, out.Deltas = status, it.offset
	var err error
	out.Body, err = it.s.content.Pack(ctx, out.PK, EntryBody{Time: it.rec.When, Events: []json.RawMessage{e.Own()}}, 0)
	return out, err
}

// finalWrites returns the writes that replace the item by its final entry and close it
// to deltas.
func (it *Item) finalWrites(final Entry) []table.Write {
	return []table.Write{it.Closing(), table.Put(final, StillInProgress())}
}

// completeWithChange stores the item's final entry together with a hidden one that
// changes the state.
func (it *Item) completeWithChange(ctx context.Context, e session.Event, final Entry) error {
	change := session.Event{
		InvocationID: e.InvocationID, Author: e.Author, StateDelta: e.StateDelta, ArtifactDelta: e.ArtifactDelta,
		Fields: map[string]json.RawMessage{"actions": e.Fields["actions"], "type": json.RawMessage(`"state"`)},
	}
	var err error
	if change.Fields["item_id"], err = jsonx.Marshal(e.ID); err != nil {
		return err
	}
	tries := 0
	_, err = it.s.Append(ctx, it.Log, []session.Event{change}, Along{
		Annotate: func(_ Head, en *Entry) { en.Hidden = true },
		Writes:   func(Head) ([]table.Write, error) { return it.finalWrites(final), nil },
		Check: func(context.Context, Head) error {
			if tries++; tries > 1 { // the item may have changed: read it first
				return table.ErrConditionFailed
			}
			return nil
		},
	})
	return err
}

// Failed returns the item's event with its content so far and the problem.
func (it *Item) Failed(problem *run.Problem) (session.Event, error) {
	raw, err := jsonx.Marshal(problem)
	if err != nil {
		return session.Event{}, fmt.Errorf("encode a problem: %w", err)
	}
	e := WithField(it.Snapshot(), "error", raw, it.offset)
	e.Status = session.EventFailed
	return e, nil
}
