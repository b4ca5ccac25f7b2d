package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// findRedelivered looks for the events with a caller's own id: those already in the
// log are not appended again.
func (w *batch) findRedelivered(ctx context.Context) error {
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

// shownEntryAt reads the entry that contains a seq of the session's log, with its
// events as the session shows them.
func (w *batch) shownEntryAt(ctx context.Context, seq int64) (*Record, error) {
	if seq <= w.log.Base {
		return w.s.owner.Inherited(ctx, w.log, seq)
	}
	return w.s.EntryCovering(ctx, w.log.Name, seq)
}

// withoutID returns the events that the key's ids are for.
func (w *batch) withoutID() []int {
	var out []int
	for i := range w.events {
		if w.random[i] != uuid.Nil {
			out = append(out, i)
		}
	}
	return out
}

// findKeyed leaves a trace of the request. If there is one, it searches for the events
// from there.
func (w *batch) findKeyed(ctx context.Context) error {
	if w.Keyed == nil {
		return nil
	}
	events := w.withoutID()
	id := w.events[events[0]].InvocationID
	held, err := w.boundWith(ctx, id, w.Keyed.Name)
	if err != nil {
		return err
	}
	from := held.Position
	if of := w.invocations[id]; of.phase == unknown && from >= w.head.Next {
		of.phase, of.bound = absent, from
	}
	if held.Keyed != w.Keyed.Name {
		if from, err = w.s.WriteLowerBound(ctx, keys.ChosenKey(w.log.Name, w.Keyed.Name), w.head.Next); err != nil {
			return err
		}
	}
	if from >= w.head.Next {
		return nil
	}
	return w.search(ctx, from, events)
}

// boundWith returns the lower bound of an invocation. If there is none, it writes one
// with the trace of the request.
func (w *batch) boundWith(ctx context.Context, id, name string) (LowerBound, error) {
	k := keys.InvocationKey(w.log.Name, id)
	if id == w.head.invocation {
		var held LowerBound
		if found, err := w.s.DB.Get(ctx, k, &held); found || err != nil {
			return held, err
		}
	}
	w.bounded[id] = true
	return w.s.putLowerBound(ctx, LowerBound{PK: k.PK, SK: k.SK, Position: w.head.Next, Keyed: name})
}

// findNamed looks in the openings of the batch's invocations for the events whose ids
// name them.
func (w *batch) findNamed(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(w.invocations)) {
		of := w.invocations[id]
		if len(w.named(id, 0)) == 0 {
			continue
		}
		find := w.searchOpening
		if of.phase == open {
			find = w.searchBack
		}
		if err := find(ctx, id, of); err != nil {
			return fmt.Errorf("search invocation %s: %w", id, err)
		}
	}
	return nil
}

// named returns the fresh events whose ids name their invocation id. With below they
// are those with smaller numbers.
func (w *batch) named(id string, below int64) []int {
	var out []int
	for _, i := range w.chosen {
		named, n, ok := session.NamedInvocation(w.events[i].ID)
		if ok && !w.stored[i] && named == id && w.events[i].InvocationID == id && (below == 0 || n < below) {
			out = append(out, i)
		}
	}
	return out
}

// searchBack searches an opening that lasts, from the head back, for ids whose numbers
// have been reached.
func (w *batch) searchBack(ctx context.Context, id string, of *invocation) error {
	wanted := func(below int64) bool { return below > 0 && len(w.named(id, below)) > 0 }
	at := w.head.Latest.First
	if w.head.Latest.WithoutBody { // its events were not compared yet
		at++
	}
	if !wanted(of.next) || at <= of.bound {
		return nil
	}
	q := EntryQuery(w.log.Name, of.bound, at-1, true)
	q.Descending = true
	return w.s.queryRecords(ctx, q, growing(), func(r *Record) (bool, error) {
		reached := of.next
		if r.InvocationFrom == of.bound && len(r.Events) > 0 && r.Events[len(r.Events)-1].InvocationID == id {
			reached = r.NextNumber
		}
		if !wanted(reached) {
			return false, nil
		}
		err := w.recognise(r)
		return wanted(reached), err
	})
}

// searchOpening searches the opening of an invocation that the head does not show, and
// finds out whether it is over.
func (w *batch) searchOpening(ctx context.Context, id string, of *invocation) error {
	held, err := w.boundOf(ctx, id)
	if err != nil {
		return err
	}
	of.phase, of.bound, of.next = absent, held.Position, held.NextNumber
	if held.Position >= w.head.Next {
		return nil
	}
	if held.Opened && (held.NextNumber == 0 || len(w.named(id, held.NextNumber)) == 0) {
		of.phase = closed
		return nil
	}
	entries, more := 0, true
	err = w.s.Scan(ctx, w.log.Name, held.Position, 0, func(r *Record) (bool, error) {
		entries++
		if r.First >= w.head.Next { // appended since the head was read
			w.pass(r)
		} else {
			of.observe(id, r)
		}
		err := w.recognise(r)
		more = len(w.named(id, 0)) > 0
		return more && of.phase != closed, err
	})
	if !more { // what follows was not read
		of.phase = unknown
	}
	if err == nil && of.phase == closed && entries > longOpening && !held.Opened {
		w.noteOpening(ctx, id, of)
	}
	return err
}

// boundOf returns the lower bound of an invocation, and writes it if there is none.
func (w *batch) boundOf(ctx context.Context, id string) (LowerBound, error) {
	k := keys.InvocationKey(w.log.Name, id)
	if id == w.head.invocation {
		var held LowerBound
		if found, err := w.s.DB.Get(ctx, k, &held); found || err != nil {
			return held, err
		}
	}
	w.bounded[id] = true
	position := w.head.Next
	if w.boundAt > 0 {
		position = w.boundAt
	}
	return w.s.lowerBoundOf(ctx, k, position)
}

// longOpening is how many entries of an opening a writer searches before it notes the
// result for others.
const longOpening = 16

// noteOpening records in an invocation's bound that its opening is over, so that later
// writers need not search it. It may be skipped.
func (w *batch) noteOpening(ctx context.Context, id string, of *invocation) {
	err := w.s.DB.Update(ctx, keys.InvocationKey(w.log.Name, id), []table.Change{
		table.Set(table.Path{boundOpened}, true), table.Set(table.Path{boundNextNumber}, of.next),
	}, table.ItemExists())
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		w.s.Log.WarnContext(ctx, "the end of an invocation's opening is not noted", "error", err)
	}
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

// foreignName is the invocation that the id of another invocation's event names.
type foreignName struct {
	event  int
	id     string
	number int64
	bound  LowerBound // of the named invocation
}

// mayBeIn reports whether the named invocation may have the id without a claim.
func (f foreignName) mayBeIn(head int64) bool {
	return f.bound.Position < head && (!f.bound.Opened || f.number < f.bound.NextNumber)
}

// searchForeign looks for an id in the opening of the invocation that it names, where ids
// need no claim, although its event belongs to another invocation.
func (w *batch) searchForeign(ctx context.Context, f foreignName) error {
	of := &invocation{phase: absent, bound: f.bound.Position}
	return w.s.Scan(ctx, w.log.Name, f.bound.Position, 0, func(r *Record) (bool, error) {
		if r.First >= w.head.Next { // appended since the head was read
			w.pass(r)
		}
		of.observe(f.id, r)
		err := w.recognise(r)
		return !w.stored[f.event] && of.phase != closed, err
	})
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

// FindAppended finds the events of a request with an idempotency key that are all in the
// log; session.ErrNotAppended otherwise.
func (s *Store) FindAppended(ctx context.Context, l Log, events []session.Event, with Along) (Appended, error) {
	w := s.newWriter(l, events, with)
	err := w.findOnly(ctx)
	return Appended{Events: w.events, Head: w.head}, err
}

func (w *batch) findOnly(ctx context.Context) error {
	if w.Keyed == nil || len(w.chosen) > 0 {
		return session.ErrNotAppended
	}
	head, err := w.s.ReadHead(ctx, w.log)
	if err != nil {
		return err
	}
	w.start(head)
	for _, k := range []table.Key{
		keys.InvocationKey(w.log.Name, w.events[0].InvocationID), keys.ChosenKey(w.log.Name, w.Keyed.Name),
	} {
		var held LowerBound
		found, err := w.s.DB.Get(ctx, k, &held)
		if err != nil {
			return err
		}
		if found && (held.Keyed == w.Keyed.Name || k.SK[:len(keys.PrefixChosen)] == keys.PrefixChosen) {
			if err := w.search(ctx, held.Position, w.withoutID()); err != nil {
				return err
			}
		}
		if len(w.fresh()) == 0 {
			return nil
		}
	}
	return session.ErrNotAppended
}
