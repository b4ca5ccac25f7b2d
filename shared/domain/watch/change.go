package watch

import (
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Change is a change of one session's log: one of its members is set, or none
// where the change is of no interest to watchers.
type Change struct {
	Appended  *Entry  // is new
	Completed *Entry  // an item that was in progress
	Grown     *Growth // an item in progress
	Deleted   bool    // the session is
}

// Entry is an entry of a log: the events of one append.
type Entry struct {
	Epoch      int64 // of the session, this entry included
	Offset     int64 // of the cursor of a watcher that has the entry as it is
	PrevOffset int64 // the same of the entry before, when this one was appended
	// Events have their position as Seq. There is at least one.
	Events []session.Event
	Hidden bool    // listed with the whole log only
	Began  string  // the run whose input it is
	Ended  string  // the run that its first event ends
	Rewind *Rewind // where it is a rewind's marker
}

// Rewind is a rewind as its marker has it.
type Rewind struct {
	ToSeq int64 // the last seq that stays
	Back  bool  // it brings other items back
}

// Growth is the deltas that an item in progress has gained.
type Growth struct {
	Epoch, Seq int64  // of the item's entry
	ItemID     string // of the event
	First      int64  // number of the first of Deltas
	Deltas     []run.Delta
}

// Messages are what watchers are told of a change, in order, without the
// session's id; none, for most changes. They depend on the change alone, so that
// a change read twice gives the same. An error says that the end of a run cannot
// be decoded.
func Messages(c Change) ([]Message, error) {
	switch {
	case c.Deleted:
		return []Message{{Type: Deleted}}, nil
	case c.Appended != nil:
		return c.Appended.appended()
	case c.Completed != nil:
		return c.Completed.completed(), nil
	case c.Grown != nil:
		return c.Grown.messages(), nil
	}
	return nil, nil
}

func (e *Entry) appended() ([]Message, error) {
	first, last := e.Events[0], e.Events[len(e.Events)-1]
	prev := Cursor{Epoch: e.Epoch, Seq: first.Seq - 1, Offset: e.PrevOffset}
	at := Cursor{Epoch: e.Epoch, Seq: last.Seq}
	switch {
	case e.Rewind != nil:
		return e.rewound(at, prev), nil
	case e.Ended != "":
		return e.ended(at, prev)
	case e.Hidden || first.TaskID != "":
		return []Message{{Type: Status, Cursor: at, Prev: prev}}, nil
	}
	var out []Message
	for _, event := range e.Events {
		if event.Status == session.EventInProgress { // as the thread shows it
			event = event.With("content", run.NewContent(run.RoleOf(event)).Snapshot())
			event.Deltas = 0
		}
		m := SnapshotOf(e.Epoch, event)
		m.Prev, prev = prev, m.Cursor
		out = append(out, m)
	}
	if e.Began != "" {
		out = append(out, Message{Type: Status, Cursor: prev, Prev: prev, Status: session.InProgress, RunID: e.Began})
	}
	return out, nil
}

func (e *Entry) rewound(at, prev Cursor) []Message {
	prev.Epoch--
	if e.Rewind.Back {
		return []Message{{Type: Reload, Cursor: at, Prev: prev, Reason: ReasonEpoch}}
	}
	return []Message{
		{Type: Rewound, Cursor: at, Prev: prev, ToSeq: &e.Rewind.ToSeq, Epoch: &e.Epoch},
		{Type: Status, Cursor: at, Prev: at, Status: session.Idle},
	}
}

func (e *Entry) ended(at, prev Cursor) ([]Message, error) {
	r, err := run.EndedBy(e.Events[0])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", e.Ended, err)
	}
	m := Message{Type: Status, Cursor: at, Prev: prev, Status: session.Idle, RunID: r.ID, Error: r.Error}
	if r.Status == run.Failed {
		m.Status = session.Failed
	}
	return []Message{m}, nil
}

// completed are the messages of an item that may have its final form now.
func (e *Entry) completed() []Message {
	event := e.Events[0]
	if event.Status == session.EventInProgress {
		return nil
	}
	prev := Cursor{Epoch: e.Epoch, Seq: event.Seq, Offset: event.Deltas}
	at := prev
	at.Offset = e.Offset
	m := Message{
		Type: ItemCompleted, Cursor: at, Prev: prev, Item: &event, ItemID: event.ID, Offset: &event.Deltas,
	}
	if event.Status == session.EventFailed {
		m.Type = ItemFailed
	}
	return []Message{m}
}

func (g *Growth) messages() []Message {
	out := make([]Message, len(g.Deltas))
	for i := range g.Deltas {
		n := g.First + int64(i)
		out[i] = Message{
			Type:   DeltaType,
			Cursor: Cursor{Epoch: g.Epoch, Seq: g.Seq, Offset: n},
			Prev:   Cursor{Epoch: g.Epoch, Seq: g.Seq, Offset: n - 1},
			ItemID: g.ItemID, Offset: &n, Delta: &g.Deltas[i],
		}
	}
	return out
}
