package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// LowerBound is a lower bound: what it names, an invocation or an event with a
// caller's own id, is in the log at Position or after it, or not at all. It is
// written before the first entry that it could concern, so it can be early but
// never late, whatever concurrent writers do and wherever one of them stops.
type LowerBound struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	Position int64  `dynamodbav:"p"`
	// Opened, of an invocation, says that its opening is over, and NextNumber is
	// greater than the numbers of all ids in it that name the invocation.
	Opened     bool  `dynamodbav:"vo,omitempty"`
	NextNumber int64 `dynamodbav:"vn,omitempty"`
	// Keyed names the request with an idempotency key that began the invocation.
	Keyed string `dynamodbav:"k,omitempty"`
	// Run, of an invocation, says that a run may have begun with its id.
	Run bool `dynamodbav:"r,omitempty"`
}

// The attributes of a bound that note the end of an opening.
const (
	boundOpened     = "vo"
	boundNextNumber = "vn"
	boundRun        = "r"
)

// WriteLowerBound writes a lower bound unless there is one, and returns the one
// that applies.
func (s *Store) WriteLowerBound(ctx context.Context, k table.Key, position int64) (held int64, err error) {
	b, err := s.lowerBoundOf(ctx, k, position)
	return b.Position, err
}

// lowerBoundOf is WriteLowerBound for callers that need the whole item.
func (s *Store) lowerBoundOf(ctx context.Context, k table.Key, position int64) (LowerBound, error) {
	return s.putLowerBound(ctx, LowerBound{PK: k.PK, SK: k.SK, Position: position})
}

func (s *Store) putLowerBound(ctx context.Context, b LowerBound) (LowerBound, error) {
	sk := b.SK
	err := s.DB.Put(ctx, b, table.ItemNotExists())
	if errors.Is(err, table.ErrConditionFailed) {
		b = LowerBound{}
		_, err = records.Found(err, &b)
	}
	if err != nil {
		return LowerBound{}, fmt.Errorf("claim %s: %w", sk, err)
	}
	return b, nil
}

// boundInvocations writes lower bounds for the invocations that the batch may be
// the first to name. Within a run the latest event has the same invocation, and nothing
// is written.
func (w *batch) boundInvocations(ctx context.Context, fresh []int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	position := cmp.Or(w.boundAt, w.head.Next)
	if w.Begins != "" {
		group.Go(func() error { return w.boundRun(ctx, position) })
	}
	for _, i := range fresh {
		id := w.events[i].InvocationID
		if id == w.Begins || id == w.head.invocation || w.bounded[id] {
			continue
		}
		w.bounded[id] = true
		of := w.invocations[id]
		group.Go(func() error {
			held, err := w.s.WriteLowerBound(ctx, keys.InvocationKey(w.log.Name, id), position)
			if err == nil && of.phase == unknown && held >= position {
				of.phase, of.bound = absent, held
			}
			return err
		})
	}
	return group.Wait()
}

// findRedelivered looks for the events with a caller's own id: those already in the
// log are not appended again.
func (w *batch) findRedelivered(ctx context.Context) error {
	if len(w.chosen) == 0 && w.Keyed == nil {
		return nil
	}
	if r := w.head.Latest; r != nil && !r.WithoutBody { // read already
		if err := w.recognise(r); err != nil {
			return err
		}
	}
	if err := w.findByPosition(ctx); err != nil {
		return err
	}
	if err := w.findKeyed(ctx); err != nil {
		return err
	}
	if err := w.findNamed(ctx); err != nil {
		return err
	}
	return w.claimIDs(ctx)
}

// claimIDs claims the ids that need it, and searches for those that were claimed
// before.
func (w *batch) claimIDs(ctx context.Context) error {
	for {
		pending := w.unclaimed()
		if len(pending) == 0 {
			return nil
		}
		from, before, foreign, err := w.boundChosen(ctx, pending)
		if err != nil {
			return err
		}
		for _, f := range foreign {
			if err := w.searchForeign(ctx, f); err != nil {
				return err
			}
		}
		if err := w.search(ctx, from, before); err != nil {
			return err
		}
	}
}

// unclaimed returns the events whose id needs a claim and has none.
func (w *batch) unclaimed() []int {
	var out []int
	for _, i := range w.chosen {
		if !w.stored[i] && !w.claimed[i] && !w.inOpening(i) {
			out = append(out, i)
		}
	}
	return out
}

// search reads the log from a position until it has found the events or reached the
// head.
func (w *batch) search(ctx context.Context, from int64, events []int) error {
	if len(events) == 0 {
		return nil
	}
	return w.s.Scan(ctx, w.log.Name, from, 0, func(r *Record) (bool, error) {
		if r.First >= w.head.Next { // appended since the head was read
			w.pass(r)
		}
		err := w.recognise(r)
		return slices.ContainsFunc(events, func(i int) bool { return !w.stored[i] }), err
	})
}

// findByPosition recognises ids that the store generated: they contain the position
// of their event.
func (w *batch) findByPosition(ctx context.Context) error {
	for _, i := range w.chosen {
		seq, ok := session.PositionOf(w.events[i].ID)
		if !ok || seq >= w.head.Next || w.stored[i] {
			continue
		}
		r, err := w.shownEntryAt(ctx, seq)
		if err != nil {
			return err
		}
		if err := w.recognise(r); err != nil {
			return err
		}
	}
	return nil
}

// boundChosen writes a lower bound for the id of each event. It returns the events
// whose ids had one before, the lowest position from which these may be found, and the ids
// that another invocation may have without a claim.
func (w *batch) boundChosen(ctx context.Context, events []int) (lowest int64, before []int, foreign []foreignName, err error) {
	position := cmp.Or(w.boundAt, w.head.Next)
	bounds, names := make([]int64, len(events)), make([]foreignName, len(events))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for n, i := range events {
		w.claimed[i] = true
		group.Go(func() (err error) {
			bounds[n], err = w.s.WriteLowerBound(ctx, keys.ChosenKey(w.log.Name, w.events[i].ID), position)
			return err
		})
		names[n].bound.Position = w.head.Next
		if id, number, _ := session.NamedInvocation(w.events[i].ID); w.events[i].Misnamed() {
			group.Go(func() error { // its own events must not miss this one, nor this one them
				held, err := w.s.lowerBoundOf(ctx, keys.InvocationKey(w.log.Name, id), position)
				names[n] = foreignName{i, id, number, held}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return 0, nil, nil, err
	}
	lowest = w.head.Next
	for n, b := range bounds {
		if b < w.head.Next {
			lowest, before = min(lowest, b), append(before, events[n])
		}
		if names[n].mayBeIn(w.head.Next) {
			foreign = append(foreign, names[n])
		}
	}
	return lowest, before, foreign, nil
}

// shownEntryAt reads the entry that contains a seq of the session's log, with its
// events as the session shows them.
func (w *batch) shownEntryAt(ctx context.Context, seq int64) (*Record, error) {
	if seq <= w.log.Base {
		return w.s.owner.Inherited(ctx, w.log, seq)
	}
	return w.s.EntryCovering(ctx, w.log.Name, seq)
}
