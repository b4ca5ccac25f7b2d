package sessions

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/table"
)

// Append implements session.Store. The batch becomes one log entry, put at the head
// on condition that its position is free; a writer that loses the race reads the
// entries that came in between and tries again after them.
//
// What an append needs of the session's header never changes while the log exists, so
// the header is remembered, and read with eventual consistency, at half the price. A
// memory, or a replica that lags, may show a deleted session, whose log says so at its
// head, or miss one: the header is then read again.
func (s *Store) Append(ctx context.Context, a session.Append) ([]session.Event, int, error) {
	h, err := s.headerForAppend(ctx, a.UserID, a.SessionID)
	var stored []session.Event
	var appended int
	if err == nil {
		stored, appended, err = s.appendTo(ctx, h, a)
	}
	if !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)) {
		return stored, appended, err
	}
	s.known.forget(a.SessionID)
	now, failed := s.header(ctx, a.UserID, a.SessionID)
	switch {
	case failed != nil:
		return nil, 0, failed
	case h != nil && now.Log == h.Log: // something else is missing
		return nil, 0, err
	}
	return s.appendTo(ctx, now, a)
}

// appendTo appends to the log of a session as it was read.
func (s *Store) appendTo(ctx context.Context, h *header, a session.Append) ([]session.Event, int, error) {
	if a.Keyed != nil && !h.NamedIDs {
		a = withDerivedIDs(a)
	}
	w := s.newWriter(h, slices.Clone(a.Events))
	w.keyedBy(a.Keyed)
	w.expected, w.limited, w.patience = a.ExpectedSeq, true, appendTime
	w.remembers = a.ExpectedSeq == nil && !h.large && (a.Keyed == nil || !a.Keyed.FindOnly)
	newest := s.watchNewest
	if w.remembers && w.recall() {
		newest = s.seenNewest
	}
	onTop := newest(ctx, h)
	run := w.run
	if a.Keyed != nil && a.Keyed.FindOnly {
		run = w.findOnly
	}
	appended, err := run(ctx)
	if err != nil {
		return nil, 0, s.notFoundIfDeleted(ctx, h, err)
	}
	if appended > 0 {
		s.touchActivity(ctx, h, onTop, w.at.time, false)
	}
	for i := range w.events {
		w.events[i].SessionID = a.SessionID
	}
	return w.events, appended, nil
}

// writer appends one batch to one log.
type writer struct {
	s        *Store
	h        *header
	task     string // set on the entry that gives a task its position
	expected *int64
	// marks adds to the entry, check decides after each lost race whether it may
	// still be appended, and with returns what is written together with it.
	marks func(*entry)
	check func(context.Context) error
	with  func() ([]table.Write, error)
	// ahead writes what must exist before an attempt at a position.
	ahead func(ctx context.Context, position int64) error

	events  []session.Event
	random  []uuid.UUID    // for generated ids, by event
	tried   map[string]int // ids used in attempts so far, by event
	stored  []bool         // by event: whether it is in the log
	chosen  []int          // events with a caller's own id
	bounded map[string]bool
	claimed []bool // by event: whether its id has a claim
	begins  string // the run whose input the batch is
	// keyed is set for a request with an idempotency key, tails are its events by the
	// part of their ids that does not depend on the position.
	keyed *session.Keyed
	tails map[string]int
	// invocations are those of the batch; nil in a log in which every id has a claim.
	invocations map[string]*invocation

	// boundAt is the position of lower bounds, if not the head: a later attempt may
	// write the batch before the head. State is that of the head, if it has been
	// read.
	boundAt int64
	state   *stateChange

	from      *head        // the head that the first attempt follows; nil if it is to be read
	remembers bool         // whether it may be one that the instance remembers
	recalled  bool         // whether the next attempt follows such a head
	read      time.Time    // when the head was last read, at the latest
	at        head         // every entry before it has been searched for the batch's ids
	tentative content.Body // of the last attempt
	last      *record      // what was appended
	race      race
	patience  time.Duration // how long to compete with other writers
	limited   bool          // whether a user who stores too much is refused
}

func (s *Store) newWriter(h *header, events []session.Event) *writer {
	w := &writer{
		s: s, h: h, events: events, patience: contentionTime, read: s.now(),
		random:  make([]uuid.UUID, len(events)),
		stored:  make([]bool, len(events)),
		tried:   map[string]int{},
		bounded: map[string]bool{},
		claimed: make([]bool, len(events)),
	}
	if h.NamedIDs {
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
	return w.check(ctx)
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
