package eventlog

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
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

// writer appends a batch to a log.
type writer struct {
	batch

	state     *StateChange // that of the head, if it has been read
	recalled  bool         // whether the next attempt follows a remembered head
	read      time.Time    // when the head was last read, at the latest
	tentative records.Body // of the last attempt
	last      *Record      // what was appended
	race      race
}

func (s *Store) newWriter(l Log, events []session.Event, with Along) *writer {
	w := &writer{read: s.Now(), batch: batch{
		s: s, log: l, Along: with, events: events,
		random:  make([]uuid.UUID, len(events)),
		stored:  make([]bool, len(events)),
		tried:   map[string]int{},
		bounded: map[string]bool{},
		claimed: make([]bool, len(events)),

		invocations: make(map[string]*invocation, 1),
	}}
	w.Patience = cmp.Or(w.Patience, ContentionTime)
	for _, e := range events {
		w.invocations[e.InvocationID] = &invocation{}
	}
	random := s.Random() // one for all: their positions differ, and what repeats compresses
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

func (w *batch) fresh() []int {
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
