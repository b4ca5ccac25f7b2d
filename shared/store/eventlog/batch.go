package eventlog

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Along is what an append takes along with the events. Without any of it the events are
// put at the head as they are.
type Along struct {
	Task   string // set on the entry that gives a task its position
	Begins string // the run whose input the batch is
	Keyed  *session.Keyed

	From      *Head // the head that the first attempt follows; nil if it is to be read
	Expected  *int64
	Remembers bool          // whether the first attempt may follow a head that the instance remembers
	Patience  time.Duration // how long to compete with other writers, ContentionTime if 0
	Limited   bool          // whether a user who stores too much is refused

	// Annotate adds to the entry, check decides at a head whether the batch may still be
	// appended, and writes returns what is written together with the entry.
	Annotate func(head Head, e *Entry)
	Check    func(ctx context.Context, head Head) error
	Writes   func(head Head) ([]table.Write, error)
}

// Appended is the result of an append.
type Appended struct {
	Events []session.Event // of the batch, as they are stored
	Fresh  int             // how many of them this call has appended
	Head   Head            // after them
	Last   *Record         // the entry that this call has appended; nil if its answer was lost, or for none
}

// batch is the events of an append, and what is known of them in the log: which of them it
// has, and which positions were searched for the others.
type batch struct {
	s   *Store
	log Log
	Along

	events  []session.Event
	random  []uuid.UUID    // for generated ids, by event
	tried   map[string]int // ids used in attempts so far, by event
	stored  []bool         // by event: whether it is in the log
	chosen  []int          // events with a caller's own id
	bounded map[string]bool
	claimed []bool // by event: whether its id has a claim
	// tails are the events with ids of the idempotency key by the part of the ids that
	// does not depend on the position.
	tails       map[string]int
	invocations map[string]*invocation // of the batch

	// boundAt is the position of lower bounds, if not the head: a later attempt may
	// write the batch before the head.
	boundAt int64
	head    Head // every entry before it has been searched for the batch's ids
}

// newBatch returns a batch of which nothing is known.
func (s *Store) newBatch(l Log, events []session.Event, with Along) batch {
	w := batch{
		s: s, log: l, Along: with, events: events,
		random:  make([]uuid.UUID, len(events)),
		stored:  make([]bool, len(events)),
		tried:   map[string]int{},
		bounded: map[string]bool{},
		claimed: make([]bool, len(events)),

		invocations: make(map[string]*invocation, 1),
	}
	random := s.Random() // one for all: their positions differ, and what repeats compresses
	for i, e := range events {
		w.invocations[e.InvocationID] = &invocation{}
		if e.ID != "" {
			w.chosen = append(w.chosen, i)
			w.tried[e.ID] = i
		} else {
			w.random[i] = random
		}
	}
	w.takeKey()
	return w
}

// mayBeStored reports whether the log may have events of the batch from an earlier request:
// events without a caller's id or an idempotency key are always new.
func (w *batch) mayBeStored() bool { return len(w.chosen) > 0 || w.Keyed != nil }

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

func (w *batch) fresh() []int {
	var out []int
	for i, stored := range w.stored {
		if !stored {
			out = append(out, i)
		}
	}
	return out
}

// A request with an idempotency key gives its events ids of their positions and the
// key, so that one trace of the request leads to all of them: in the lower bound of the
// invocation that it begins, which is written anyway, or else a lower bound of its own
// (docs/adr/0047-appends-by-idempotency-key.md).

// takeKey makes the ids of the events without one depend on the request's key.
func (w *batch) takeKey() {
	if len(w.chosen) == len(w.events) {
		w.Keyed = nil
	}
	if w.Keyed == nil {
		return
	}
	w.tails = map[string]int{}
	for i, e := range w.events {
		if id, err := uuid.Parse(w.Keyed.IDs[i]); err == nil && e.ID == "" {
			w.random[i] = id
			w.tails[session.WithoutPosition(session.PositionalID(1, id))] = i
		}
	}
}

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

// Most invocations are no runs. The lower bound of a run's invocation says that a run
// may have begun with its id, so that a request for another one need not search the log
// for the end of a run.

// boundRun writes the lower bound of the run that the batch begins. Events of others
// may already name the run as their invocation: its id is known while it is queued.
func (w *batch) boundRun(ctx context.Context, position int64) error {
	k := keys.InvocationKey(w.log.Name, w.Begins)
	held, err := w.s.putLowerBound(ctx, LowerBound{PK: k.PK, SK: k.SK, Position: position, Run: true})
	if of := w.invocations[w.Begins]; err == nil && of != nil && of.phase == unknown && held.Position >= position {
		of.phase, of.bound = absent, held.Position
	}
	if err != nil || held.Run {
		return err
	}
	err = w.s.DB.Update(ctx, k, []table.Change{table.Set(table.Path{boundRun}, true)}, table.ItemExists())
	if errors.Is(err, table.ErrConditionFailed) { // the session was deleted
		return MissingSession()
	}
	return err
}

// recognise marks the batch's events that a record contains. An id that the record
// contains with other content is a conflict.
func (w *batch) recognise(r *Record) error {
	for _, e := range r.Events {
		i, ok := w.tried[e.ID]
		if !ok {
			i, ok = w.tails[session.WithoutPosition(e.ID)]
		}
		if !ok || w.stored[i] {
			continue
		}
		if !w.events[i].SameAs(e) {
			return fault.New(fault.EventIDTaken, "event id %q was used for other content", e.ID).With("event_id", e.ID)
		}
		w.events[i], w.stored[i] = e, true
	}
	return nil
}
