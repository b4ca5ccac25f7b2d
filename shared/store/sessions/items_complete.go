package sessions

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

// Complete implements run.Item. The entry is rewritten with the whole event;
// the segments are read no more. What the event changes of the state takes
// effect at the head of the log, by a hidden entry stored with it.
func (it *item) Complete(ctx context.Context, e session.Event) (session.Event, error) {
	begun := it.rec.events[0]
	e.ID, e.InvocationID = begun.ID, begun.InvocationID
	if e.Author == "" {
		e.Author = begun.Author
	}
	return records.ContendedValue(ctx, func() (session.Event, error) { return it.tryComplete(ctx, e) })
}

// tryComplete tries once; table.ErrConditionFailed where the item has changed and is
// still in progress.
func (it *item) tryComplete(ctx context.Context, e session.Event) (session.Event, error) {
	if it.stale {
		if err := it.load(ctx); err != nil {
			return session.Event{}, err
		}
	}
	done, failed := it.complete(ctx, e)
	if !errors.Is(failed, table.ErrConditionFailed) {
		return done, failed
	}
	now, err := it.s.entryCovering(ctx, it.log(), it.Seq())
	if err != nil {
		return session.Event{}, it.s.notFoundIfDeleted(ctx, it.h, err)
	}
	if !now.inProgress() {
		if there := now.events[0]; there.Status == session.EventCompleted && there.SameAs(e) {
			return it.shown(there), nil // this very call, whose answer was lost
		}
		return session.Event{}, it.closed(ctx)
	}
	it.stale = true
	return session.Event{}, failed
}

func (it *item) complete(ctx context.Context, e session.Event) (session.Event, error) {
	e.Status = session.EventCompleted
	entry, err := it.final(ctx, e, "")
	if err != nil {
		return session.Event{}, err
	}
	switch {
	case len(e.Change()) > 0:
		err = it.completeWithChange(ctx, e, entry)
	case it.shared:
		err = it.s.db.Transact(ctx, it.ending(entry)...)
	default:
		err = it.s.db.Put(ctx, entry, stillInProgress())
	}
	e.Seq, e.CreatedTime, e.Deltas = it.Seq(), it.rec.time, it.offset
	return it.shown(e), err
}

func (it *item) shown(e session.Event) session.Event {
	e.SessionID = it.ref.SessionID
	return e
}

func stillInProgress() table.Condition {
	return table.Equal(table.At(attrStatus), session.EventInProgress)
}

// final is the item's entry as it stays.
func (it *item) final(ctx context.Context, e session.Event, status session.EventStatus) (entry, error) {
	out := it.rec.entry
	out.Status, out.Deltas = status, it.offset
	var err error
	out.Body, err = it.s.content.Pack(ctx, out.PK, entryBody{Time: it.rec.time, Events: []json.RawMessage{e.Own()}}, 0)
	return out, err
}

// ending are the writes that replace the item by its final entry and keep
// deltas out.
func (it *item) ending(final entry) []table.Write {
	return append(it.closing(), table.Put(final, stillInProgress()))
}

// completeWithChange stores the item's final entry together with a hidden one
// that changes the state.
func (it *item) completeWithChange(ctx context.Context, e session.Event, final entry) error {
	change := session.Event{
		InvocationID: e.InvocationID, Author: e.Author, StateDelta: e.StateDelta, ArtifactDelta: e.ArtifactDelta,
		Fields: map[string]json.RawMessage{"actions": e.Fields["actions"], "type": json.RawMessage(`"state"`)},
	}
	var err error
	if change.Fields["item_id"], err = jsonx.Marshal(e.ID); err != nil {
		return err
	}
	w := it.s.newWriter(it.h, []session.Event{change})
	w.marks = func(en *entry) { en.Hidden = true }
	w.with = func() ([]table.Write, error) { return it.ending(final), nil }
	tries := 0
	w.check = func(context.Context) error {
		if tries++; tries > 1 { // the item may have changed: look first
			return table.ErrConditionFailed
		}
		return nil
	}
	_, err = w.run(ctx)
	return err
}

// failed is the item's event with what it has so far and the problem.
func (it *item) failed(problem *run.Problem) (session.Event, error) {
	raw, err := jsonx.Marshal(problem)
	if err != nil {
		return session.Event{}, fmt.Errorf("encode a problem: %w", err)
	}
	e := withField(it.snapshot(), "error", raw, it.offset)
	e.Status = session.EventFailed
	return e, nil
}
