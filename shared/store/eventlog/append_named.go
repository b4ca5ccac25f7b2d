package eventlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// An id that names its invocation is found by the invocation's lower bound, so it
// needs no claim while the invocation's opening lasts: its first entry and those that
// follow it directly, up to and including the first that does not end with an event of
// the invocation (docs/adr/0046-ids-that-name-their-invocation.md).

// phase is how far the opening of an invocation is at a position of the log.
type phase int

const (
	unknown phase = iota
	absent        // no entry before the position belongs to the invocation
	open          // the next entry belongs to the opening
	closed        // the opening is over
)

// invocation is an invocation of a batch, at the head that the writer knows.
type invocation struct {
	phase phase
	bound int64 // its lower bound, if it is absent or open
	next  int64 // greater than the numbers of all ids in its opening that name it
}

// observe advances the invocation by the next entry of the log.
func (v *invocation) observe(id string, r *Record) {
	if v.phase != absent && v.phase != open {
		return
	}
	ends, begun := false, v.phase == open
	for _, e := range r.Events {
		if named, n, ok := session.NamedInvocation(e.ID); ok && named == id {
			v.next = max(v.next, n+1)
		}
		ends = e.InvocationID == id
		begun = begun || ends
	}
	switch {
	case ends && r.InvocationFrom > 0:
		v.phase, v.bound, v.next = open, r.InvocationFrom, max(v.next, r.NextNumber)
	case begun, r.blank(): // an unreadable entry may be of the invocation
		v.phase = closed
	}
}

// longOpening is how many entries of an opening a writer searches before it notes the
// result for others.
const longOpening = 16

// start begins to append at a head.
func (w *batch) start(head Head) {
	w.head = head
	of := w.invocations[head.invocation]
	if r := head.Latest; r != nil && of != nil && r.InvocationFrom > 0 {
		of.phase, of.bound, of.next = open, r.InvocationFrom, r.NextNumber
	}
}

// pass moves the head past the next record of the log.
func (w *batch) pass(r *Record) {
	w.head = w.head.After(r)
	for id, of := range w.invocations {
		of.observe(id, r)
	}
}

// inOpening reports whether the event's id needs no claim at the head.
func (w *batch) inOpening(i int) bool {
	e := w.events[i]
	of := w.invocations[e.InvocationID]
	if of.phase != absent && of.phase != open {
		return false
	}
	named, _, ok := session.NamedInvocation(e.ID)
	return ok && named == e.InvocationID
}

// markOpening records in an entry the opening that its last event belongs to, if an id
// names the invocation or a run begins, whose worker may use such ids.
func (w *batch) markOpening(r *Record, fresh []int) {
	id := w.events[fresh[len(fresh)-1]].InvocationID
	of := w.invocations[id]
	if of.phase != absent && of.phase != open {
		return
	}
	next := of.next
	for _, i := range fresh {
		if named, n, ok := session.NamedInvocation(w.events[i].ID); ok && named == id {
			next = max(next, n+1)
		}
	}
	if next > 0 || w.Begins == id { // otherwise the marks would only cost bytes
		r.InvocationFrom, r.NextNumber = of.bound, next
	}
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
