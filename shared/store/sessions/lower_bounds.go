package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// lowerBound is a lower bound: what it names, an invocation or an event with a
// caller's own id, is in the log at Position or after it, or not at all. It is
// written before the first entry that it could concern, so it can be early but
// never late, whatever concurrent writers do and wherever one of them stops.
type lowerBound struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	Position int64  `dynamodbav:"p"`
}

// writeLowerBound writes a lower bound unless there is one, and returns the one
// that applies.
func (s *Store) writeLowerBound(ctx context.Context, k table.Key, position int64) (held int64, err error) {
	var old lowerBound
	err = s.db.Put(ctx, lowerBound{PK: k.PK, SK: k.SK, Position: position}, table.ItemNotExists())
	if errors.Is(err, table.ErrConditionFailed) {
		_, err = records.Found(err, &old)
		position = old.Position
	}
	if err != nil {
		return 0, fmt.Errorf("claim %s: %w", k.SK, err)
	}
	return position, nil
}

// boundInvocations writes lower bounds for the invocations that the batch may be
// the first to name. Within a run the latest event has the same invocation, and
// nothing is written.
func (w *writer) boundInvocations(ctx context.Context, fresh []int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for _, i := range fresh {
		id := w.events[i].InvocationID
		if id == w.at.invocation || w.bounded[id] {
			continue
		}
		w.bounded[id] = true
		group.Go(func() error {
			_, err := w.s.writeLowerBound(ctx, invocationKey(w.h.Log, id), cmp.Or(w.boundAt, w.at.next))
			return err
		})
	}
	return group.Wait()
}

// findRedelivered looks for the events with a caller's own id: those already in the
// log are not appended again.
func (w *writer) findRedelivered(ctx context.Context) error {
	if len(w.chosen) == 0 {
		return nil
	}
	if err := w.findByPosition(ctx); err != nil {
		return err
	}
	from, wanted, err := w.boundChosen(ctx)
	if err != nil || wanted == 0 {
		return err
	}
	return w.s.scan(ctx, w.h.Log, from, 0, func(r *record) (bool, error) {
		if r.first >= w.at.next { // appended since the head was read
			w.at = w.at.after(r)
		}
		before := len(w.fresh())
		if err := w.recognise(r); err != nil {
			return false, err
		}
		wanted -= before - len(w.fresh())
		return wanted > 0, nil
	})
}

// findByPosition recognises ids that the store generated: they contain the position
// of their event.
func (w *writer) findByPosition(ctx context.Context) error {
	for _, i := range w.chosen {
		seq, ok := session.PositionOf(w.events[i].ID)
		if !ok || seq >= w.at.next || w.stored[i] {
			continue
		}
		r, err := w.s.shownEntryAt(ctx, w.h, seq)
		if err != nil {
			return err
		}
		if err := w.recognise(r); err != nil {
			return err
		}
	}
	return nil
}

// boundChosen writes a lower bound for each of the callers' ids. It returns how
// many existed before, and the lowest position from which their events may be
// found.
func (w *writer) boundChosen(ctx context.Context) (lowest int64, before int, err error) {
	bounds := make([]int64, len(w.chosen))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for n, i := range w.chosen {
		bounds[n] = w.at.next
		if w.stored[i] {
			continue
		}
		group.Go(func() (err error) {
			bounds[n], err = w.s.writeLowerBound(ctx, chosenKey(w.h.Log, w.events[i].ID), w.at.next)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	lowest = w.at.next
	for _, b := range bounds {
		if b < w.at.next {
			lowest, before = min(lowest, b), before+1
		}
	}
	return lowest, before, nil
}

// shownEntryAt reads the entry that contains a seq of the session's log, with its
// events as the session shows them.
func (s *Store) shownEntryAt(ctx context.Context, h *header, seq int64) (*record, error) {
	whole, err := h.whole()
	if err != nil {
		return nil, err
	}
	r := whole.After(seq - 1)[0]
	rec, err := s.entryCovering(ctx, r.Log, r.From)
	if err != nil {
		return nil, err
	}
	for i, e := range rec.events {
		rec.events[i] = h.show(r, e)
	}
	return rec, nil
}
