package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
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
	for try := 0; ; try++ {
		if it.stale {
			if err := it.load(ctx); err != nil {
				return session.Event{}, err
			}
		}
		done, err := it.complete(ctx, e)
		if !errors.Is(err, errTaken) {
			return done, err
		}
		now, err := it.s.covering(ctx, it.log(), it.Seq())
		if err != nil {
			return session.Event{}, it.s.unlessGone(ctx, it.h, err)
		}
		if !now.inProgress() {
			if there := now.events[0]; there.Status == session.EventCompleted && there.SameAs(e) {
				return it.shown(there), nil // this very call, whose answer was lost
			}
			return session.Event{}, it.closed(ctx)
		}
		it.stale = true
		if err := afterConflict(ctx, try); err != nil {
			return session.Event{}, err
		}
	}
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
		var writes []types.TransactWriteItem
		if writes, err = it.ending(entry); err == nil {
			err = it.s.transact(ctx, writes...)
		}
	default:
		err = it.s.put(ctx, entry, stillInProgress(), nil)
	}
	e.Seq, e.CreatedTime, e.Deltas = it.Seq(), it.rec.time, it.offset
	return it.shown(e), err
}

func (it *item) shown(e session.Event) session.Event {
	e.SessionID = it.ref.SessionID
	return e
}

func stillInProgress() condition {
	return condition{
		expression: "#st = :p",
		names:      map[string]string{"#st": "st"},
		values:     attributes{":p": str(string(session.EventInProgress))},
	}
}

// final is the item's entry as it stays.
func (it *item) final(ctx context.Context, e session.Event, status session.EventStatus) (entry, error) {
	out := it.rec.entry
	out.Status, out.Deltas = status, it.offset
	var err error
	out.body, err = it.s.pack(ctx, out.PK, entryBody{Time: it.rec.time, Events: []json.RawMessage{e.Own()}}, 0)
	return out, err
}

// ending are the writes that replace the item by its final entry and keep
// deltas out.
func (it *item) ending(final entry) ([]types.TransactWriteItem, error) {
	put, err := it.s.transactPut(final, stillInProgress())
	if err != nil {
		return nil, err
	}
	writes, err := it.closing()
	return append(writes, put), err
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
	w.with = func() ([]types.TransactWriteItem, error) { return it.ending(final) }
	tries := 0
	w.check = func(context.Context) error {
		if tries++; tries > 1 { // the item may have changed: look first
			return errTaken
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
