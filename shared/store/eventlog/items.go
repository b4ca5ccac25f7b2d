package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Item is an event in progress: an entry of the log, and segments with its deltas.
type Item struct {
	s       *Store
	Log     Log
	rec     *Record // as it began
	content *content.Draft
	offset  int64
	tail    Segment // the last segment; Count is 0 if there is none
	k       int     // its number
	Stale   bool    // the stored state may differ and must be read again
	writer  []byte  // identifies this copy in the segments that it writes; nil before the first
	// Producer is the run that produces it; nil if it is only read.
	Producer Producer
	// quiet is whether the next segment begins quiet, and unchecked whether a quiet
	// last segment may be watched (see Watching).
	quiet, unchecked bool
}

// Producer is the run that produces an item.
type Producer interface {
	// Shared reports whether requests write the item directly.
	Shared() bool
	// Renew extends the run's lease, if its worker does not do that.
	Renew(ctx context.Context) error
	// Refusal returns why the run's item accepts nothing more; nil if the run goes on.
	Refusal(ctx context.Context) error
}

var _ run.Item = (*Item)(nil)

// ID implements run.Item.
func (it *Item) ID() string { return it.Begun().ID }

// Seq implements run.Item.
func (it *Item) Seq() int64 { return it.rec.First }

// Offset implements run.Item.
func (it *Item) Offset() int64 { return it.offset }

// Content implements run.Item.
func (it *Item) Content() *content.Draft { return it.content }

// Begun returns the event as it began.
func (it *Item) Begun() session.Event { return it.rec.Events[0] }

// Watched implements run.Item.
func (it *Item) Watched() bool { return !it.quiet }

// Snapshot returns the event with its content so far.
func (it *Item) Snapshot() session.Event {
	return WithField(it.Begun(), "content", it.content.Snapshot(), it.offset)
}

// NewItem returns an item without deltas; by is nil for one that is only read.
func (s *Store) NewItem(l Log, rec *Record, by Producer) *Item {
	return &Item{
		s: s, Log: l, rec: rec, Producer: by, content: content.NewDraft(content.RoleOf(rec.Events[0].Fields["content"])), quiet: s.watching != nil,
	}
}

// Load reads what is stored of the item.
func (it *Item) Load(ctx context.Context) error {
	fresh := it.s.NewItem(it.Log, it.rec, it.Producer)
	err := it.s.readSegments(ctx, it.Log.Name, it.Seq(), func(g Segment) error {
		if g.Count == 0 {
			return nil // it closes the item
		}
		deltas, err := g.Decode()
		if err != nil {
			return err
		}
		for _, d := range deltas {
			if err := fresh.content.Append(d, ""); err != nil {
				return fmt.Errorf("stored deltas of item %s: %w", it.ID(), errors.Join(table.ErrUnreadable, err))
			}
		}
		_, fresh.k, err = PositionOfSegment(g.SK)
		fresh.tail, fresh.offset = g, g.last()
		fresh.quiet, fresh.unchecked = g.Quiet, g.Quiet
		return err
	})
	if err != nil {
		return fmt.Errorf("read item %s: %w", it.ID(), err)
	}
	*it = *fresh
	return nil
}

// Flush implements run.Item.
func (it *Item) Flush(ctx context.Context, deltas []content.Delta) (rest []content.Delta, err error) {
	return it.flush(ctx, deltas, func() error { return nil })
}

// FlushAt implements run.Item.
func (it *Item) FlushAt(ctx context.Context, offset int64, deltas []content.Delta) error {
	_, err := it.flush(ctx, deltas, func() error {
		if it.offset == offset {
			return nil
		}
		return fault.New(fault.OffsetConflict, "the item has %d deltas, not %d", it.offset, offset).
			With("item_id", it.ID()).With("offset", it.offset)
	})
	return err
}

// flush stores deltas if allowed accepts the stored state, and returns those that are
// not stored.
func (it *Item) flush(ctx context.Context, deltas []content.Delta, allowed func() error) (rest []content.Delta, err error) {
	rest = pieces(deltas)
	if len(rest) == 0 {
		return nil, nil
	}
	if err := it.Producer.Renew(ctx); err != nil {
		return rest, err
	}
	err = records.SettledBriefly(ctx, func() (err error) {
		rest, err = it.tryFlush(ctx, rest, allowed)
		return err
	})
	return rest, err
}

// tryFlush tries once, and returns the deltas that are not stored;
// table.ErrConditionFailed if another writer was first.
func (it *Item) tryFlush(ctx context.Context, rest []content.Delta, allowed func() error) ([]content.Delta, error) {
	if it.Stale {
		if err := it.Load(ctx); err != nil {
			return rest, err
		}
	}
	if err := allowed(); err != nil {
		return rest, err
	}
	if err := it.accept(rest); err != nil {
		return rest, err
	}
	rest, err := it.write(ctx, rest)
	if err == nil {
		return nil, nil
	}
	it.Stale = true
	if errors.Is(err, errClosed) {
		return rest, it.closed(ctx)
	}
	return rest, fmt.Errorf("store deltas of item %s: %w", it.ID(), err)
}

// accept checks deltas against the content before any is stored.
func (it *Item) accept(deltas []content.Delta) error {
	it.Stale = true // until all are stored
	for i, d := range deltas {
		if err := it.content.Append(d, fmt.Sprintf("/deltas/%d", i)); err != nil {
			return err
		}
	}
	if it.content.Size() > run.MaxItem {
		return tooLarge()
	}
	return nil
}

// write stores as many deltas in one request as one segment holds, and returns those
// that are not stored.
func (it *Item) write(ctx context.Context, rest []content.Delta) ([]content.Delta, error) {
	if it.unchecked {
		it.announce(ctx)
	}
	for len(rest) > 0 {
		next, k, n := it.tail, it.k, 0
		for _, d := range rest {
			encoded, err := jsonx.Marshal(d)
			if err != nil {
				return rest, err
			}
			grown, at := it.grown(next, k, encoded)
			if n > 0 && at != k {
				break
			}
			next, k = grown, at
			n++
		}
		if err := it.putSegment(ctx, &next); err != nil {
			return rest, err
		}
		begins := next.SK != it.tail.SK
		it.tail, it.k, it.offset = next, k, next.last()
		rest = rest[n:]
		if begins {
			it.announce(ctx)
			// A deletion cannot have removed a new segment. One that a replica misses is
			// found with the next segment, or when the item is completed.
			if err := it.s.seemsToExist(ctx, it.Log.Name); err != nil {
				return rest, err
			}
		}
	}
	it.Stale = false
	return nil, nil
}

// closed returns why an item accepts no more deltas.
func (it *Item) closed(ctx context.Context) error {
	if err := it.Producer.Refusal(ctx); err != nil {
		return err
	}
	return fault.New(fault.ItemNotInProgress, "the item %q is complete", it.ID()).With("item_id", it.ID())
}

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

// WithField returns a copy of an event with one member replaced.
func WithField(e session.Event, name string, value json.RawMessage, deltas int64) session.Event {
	e = e.With(name, value)
	e.Deltas = deltas
	return e
}

// fill gives the record of an item in progress its current content. The record may
// come from a replica that misses the item's completion, so it is read again.
func (s *Store) fill(ctx context.Context, rec *Record) error {
	if !rec.InProgress() {
		return nil
	}
	log := rec.PK[len(keys.PrefixLog):]
	now, err := s.EntryCovering(ctx, log, rec.First)
	if err != nil {
		return err
	}
	*rec = *now
	if !rec.InProgress() {
		return nil
	}
	it := s.NewItem(Log{Name: log}, rec, nil)
	if err := it.Load(ctx); err != nil {
		return err
	}
	rec.Events = []session.Event{it.Snapshot()}
	return nil
}
