package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// item is an event in progress: an entry of the log, and segments with its deltas.
type item struct {
	s       *Store
	log     Log
	rec     *record // as it began
	content *run.Content
	offset  int64
	tail    segment // the last segment; Count is 0 if there is none
	k       int     // its number
	stale   bool    // the stored state may differ and must be read again
	// producer is the run that produces it; nil if it is only read.
	producer producer
	// quiet is whether the next segment begins quiet, and unchecked whether a quiet
	// last segment may be watched (see quiet.go).
	quiet, unchecked bool
}

var _ run.Item = (*item)(nil)

// ID implements run.Item.
func (it *item) ID() string { return it.begun().ID }

// Seq implements run.Item.
func (it *item) Seq() int64 { return it.rec.first }

// Offset implements run.Item.
func (it *item) Offset() int64 { return it.offset }

// Content implements run.Item.
func (it *item) Content() *run.Content { return it.content }

// producer is the run that produces an item.
type producer interface {
	// Shared reports whether requests write the item directly.
	shared() bool
	// Renew extends the run's lease, if its worker does not do that.
	renew(ctx context.Context) error
	// Refusal returns why the run's item accepts nothing more; nil if the run goes on.
	refusal(ctx context.Context) error
}

// newItem returns an item without deltas; by is nil for one that is only read.
func (s *Store) newItem(l Log, rec *record, by producer) *item {
	return &item{
		s: s, log: l, rec: rec, producer: by, content: run.NewContent(run.RoleOf(rec.events[0])), quiet: s.watching != nil,
	}
}

// begun returns the event as it began.
func (it *item) begun() session.Event { return it.rec.events[0] }

// load reads what is stored of the item.
func (it *item) load(ctx context.Context) error {
	fresh := it.s.newItem(it.log, it.rec, it.producer)
	err := it.s.readSegments(ctx, it.log.Name, it.Seq(), func(g segment) error {
		if g.Count == 0 {
			return nil // it closes the item
		}
		deltas, err := g.deltas()
		if err != nil {
			return err
		}
		for _, d := range deltas {
			if err := fresh.content.Append(d, ""); err != nil {
				return fmt.Errorf("stored deltas of item %s: %w", it.ID(), errors.Join(table.ErrUnreadable, err))
			}
		}
		_, fresh.k, err = positionOfSegment(g.SK)
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
func (it *item) Flush(ctx context.Context, deltas []run.Delta) (rest []run.Delta, err error) {
	return it.flush(ctx, deltas, func() error { return nil })
}

// Watched implements run.Item.
func (it *item) Watched() bool { return !it.quiet }

// FlushAt implements run.Item.
func (it *item) FlushAt(ctx context.Context, offset int64, deltas []run.Delta) error {
	_, err := it.flush(ctx, deltas, func() error {
		if it.offset == offset {
			return nil
		}
		return fault.New(fault.Conflict, "the item has %d deltas, not %d", it.offset, offset).
			With("item_id", it.ID()).With("offset", it.offset)
	})
	return err
}

// flush stores deltas if allowed accepts the stored state, and returns those that are
// not stored.
func (it *item) flush(ctx context.Context, deltas []run.Delta, allowed func() error) (rest []run.Delta, err error) {
	rest = pieces(deltas)
	if len(rest) == 0 {
		return nil, nil
	}
	if err := it.producer.renew(ctx); err != nil {
		return rest, err
	}
	err = records.SettledWithin(ctx, contentionWait, func() (err error) {
		rest, err = it.tryFlush(ctx, rest, allowed)
		return err
	})
	return rest, err
}

// tryFlush tries once, and returns the deltas that are not stored;
// table.ErrConditionFailed if another writer was first.
func (it *item) tryFlush(ctx context.Context, rest []run.Delta, allowed func() error) ([]run.Delta, error) {
	if it.stale {
		if err := it.load(ctx); err != nil {
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
	it.stale = true
	if errors.Is(err, errClosed) {
		return rest, it.closed(ctx)
	}
	return rest, fmt.Errorf("store deltas of item %s: %w", it.ID(), err)
}

// accept checks deltas against the content before any is stored.
func (it *item) accept(deltas []run.Delta) error {
	it.stale = true // until all are stored
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
func (it *item) write(ctx context.Context, rest []run.Delta) ([]run.Delta, error) {
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
			if err := it.s.seemsToExist(ctx, it.log.Name); err != nil {
				return rest, err
			}
		}
	}
	it.stale = false
	return nil, nil
}

// closed returns why an item accepts no more deltas.
func (it *item) closed(ctx context.Context) error {
	if err := it.producer.refusal(ctx); err != nil {
		return err
	}
	return fault.New(fault.Conflict, "the item %q is complete", it.ID()).With("item_id", it.ID())
}

// snapshot returns the event with its content so far.
func (it *item) snapshot() session.Event {
	return withField(it.begun(), "content", it.content.Snapshot(), it.offset)
}

// withField returns a copy of an event with one member replaced.
func withField(e session.Event, name string, value json.RawMessage, deltas int64) session.Event {
	e = e.With(name, value)
	e.Deltas = deltas
	return e
}

// fill gives the record of an item in progress its current content. The record may
// come from a replica that misses the item's completion, so it is read again.
func (s *Store) fill(ctx context.Context, rec *record) error {
	if !rec.inProgress() {
		return nil
	}
	log := rec.PK[len(keys.PrefixLog):]
	now, err := s.entryCovering(ctx, log, rec.first)
	if err != nil {
		return err
	}
	*rec = *now
	if !rec.inProgress() {
		return nil
	}
	it := s.newItem(Log{Name: log}, rec, nil)
	if err := it.load(ctx); err != nil {
		return err
	}
	rec.events = []session.Event{it.snapshot()}
	return nil
}
