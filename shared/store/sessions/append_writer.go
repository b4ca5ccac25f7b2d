package sessions

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/table"
)

// along is what an append takes along with the events. Without any of it the events are
// put at the head as they are.
type along struct {
	task   string // set on the entry that gives a task its position
	begins string // the run whose input the batch is
	keyed  *session.Keyed

	from      *head // the head that the first attempt follows; nil if it is to be read
	expected  *int64
	remembers bool          // whether the first attempt may follow a head that the instance remembers
	patience  time.Duration // how long to compete with other writers, contentionTime if 0
	limited   bool          // whether a user who stores too much is refused

	// annotate adds to the entry, check decides at a head whether the batch may still be
	// appended, and writes returns what is written together with the entry.
	annotate func(at head, e *entry)
	check    func(ctx context.Context, at head) error
	writes   func(at head) ([]table.Write, error)
	// ahead writes what must exist before an attempt at a position.
	ahead func(ctx context.Context, position int64) error
}

// appended is the result of an append.
type appended struct {
	events []session.Event // of the batch, as they are stored
	fresh  int             // how many of them this call has appended
	at     head            // after them
	last   *record         // the entry that this call has appended; nil if its answer was lost, or for none
}

// appendTo appends the events that are not in the log yet.
func (s *Store) appendToLog(ctx context.Context, l Log, events []session.Event, with along) (appended, error) {
	w := s.newWriter(l, events, with)
	n, err := w.run(ctx)
	return appended{events: w.events, fresh: n, at: w.at, last: w.last}, err
}

// appendBehind appends events behind other entries of the same transaction, which before
// returns together with the state after them; with.writes holds those entries. It tries once:
// table.ErrConditionFailed if the head is another one, or one of the events is in the log.
func (s *Store) appendBehind(
	ctx context.Context, l Log, at head, events []session.Event, with along, before func() ([]*record, *stateChange, error),
) (appended, error) {
	w := s.newWriter(l, events, with)
	w.start(at)
	if err := w.findRedelivered(ctx); err != nil {
		return appended{}, err
	}
	if w.at.next != at.next || len(w.fresh()) < len(events) {
		return appended{}, table.ErrConditionFailed
	}
	entries, state, err := before()
	if err != nil {
		return appended{}, err
	}
	// If this attempt fails, the events may be appended at the head as it was read.
	w.boundAt, w.state = at.next, state
	for _, r := range entries {
		w.pass(r)
	}
	end := w.at.next
	if err := w.claimIDs(ctx); err != nil {
		return appended{}, err
	}
	if w.at.next != end || len(w.fresh()) < len(events) {
		return appended{}, table.ErrConditionFailed
	}
	if err := w.try(ctx, w.fresh()); err != nil {
		if errors.Is(err, table.ErrConditionFailed) {
			w.discardTentative(ctx)
		}
		return appended{}, err
	}
	return appended{events: w.events, fresh: len(events), at: w.at, last: w.last}, nil
}

// writer appends one batch to one log.
type writer struct {
	s   *Store
	log Log
	along

	events  []session.Event
	random  []uuid.UUID    // for generated ids, by event
	tried   map[string]int // ids used in attempts so far, by event
	stored  []bool         // by event: whether it is in the log
	chosen  []int          // events with a caller's own id
	bounded map[string]bool
	claimed []bool // by event: whether its id has a claim
	// tails are the events with ids of the idempotency key by the part of the ids that
	// does not depend on the position.
	tails map[string]int
	// invocations are those of the batch; nil in a log in which every id has a claim.
	invocations map[string]*invocation

	// boundAt is the position of lower bounds, if not the head: a later attempt may
	// write the batch before the head. State is that of the head, if it has been
	// read.
	boundAt int64
	state   *stateChange

	recalled  bool         // whether the next attempt follows a remembered head
	read      time.Time    // when the head was last read, at the latest
	at        head         // every entry before it has been searched for the batch's ids
	tentative content.Body // of the last attempt
	last      *record      // what was appended
	race      race
}

func (s *Store) newWriter(l Log, events []session.Event, with along) *writer {
	w := &writer{
		s: s, log: l, along: with, events: events, read: s.now(),
		random:  make([]uuid.UUID, len(events)),
		stored:  make([]bool, len(events)),
		tried:   map[string]int{},
		bounded: map[string]bool{},
		claimed: make([]bool, len(events)),
	}
	w.patience = cmp.Or(w.patience, contentionTime)
	if l.NamedIDs {
		w.invocations = make(map[string]*invocation, 1)
		for _, e := range events {
			w.invocations[e.InvocationID] = &invocation{}
		}
	}
	random := s.random() // one for all: their positions differ, and what repeats compresses
	for i, e := range events {
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

// run appends the events that are not in the log yet and returns how many.
func (w *writer) run(ctx context.Context) (int, error) {
	if err := w.findHead(ctx); err != nil {
		return 0, err
	}
	w.start(*w.from)
	if err := w.allowed(ctx); err != nil {
		return 0, err
	}
	if err := w.findRedelivered(ctx); err != nil {
		return 0, err
	}
	appended, err := w.compete(ctx)
	if err == nil {
		err = w.confirm(ctx)
	}
	if err == nil && w.remembers {
		w.remember()
	}
	return appended, err
}

// allowed decides, after the head was read, whether the batch may be appended.
// Anything that would forbid it takes a position of its own, so an allowed batch is
// either written before that or finds its position taken.
func (w *writer) allowed(ctx context.Context) error {
	if w.check == nil {
		return nil
	}
	return w.check(ctx, w.at)
}

func (w *writer) fresh() []int {
	var out []int
	for i, stored := range w.stored {
		if !stored {
			out = append(out, i)
		}
	}
	return out
}

// recognise marks the batch's events that a record contains. An id that the record
// contains with other content is a conflict.
func (w *writer) recognise(r *record) error {
	for _, e := range r.events {
		i, ok := w.tried[e.ID]
		if !ok {
			i, ok = w.tails[session.WithoutPosition(e.ID)]
		}
		if !ok || w.stored[i] {
			continue
		}
		if !w.events[i].SameAs(e) {
			return fault.New(fault.Conflict, "event id %q was used for other content", e.ID).With("event_id", e.ID)
		}
		w.events[i], w.stored[i] = e, true
	}
	return nil
}
