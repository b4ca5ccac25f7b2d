package watch

import (
	"fmt"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Change is a change of one session's log: at most one of its members is set, and
// none if the change does not concern watchers.
type Change struct {
	Appended  *Entry  // a new entry
	Completed *Entry  // an item that was in progress
	Grown     *Growth // an item in progress
	Deleted   bool    // the session was deleted
	Queue     *Queue  // the session's queue
}

// Queue is a session's queue, and the position of the log at which it changed.
type Queue struct {
	run.Queue
	At Cursor
}

// Entry is an entry of a log: the events of one append.
type Entry struct {
	Epoch      int64 // of the session, this entry included
	Offset     int64 // of the cursor of a watcher that has the entry
	PrevOffset int64 // the same for the previous entry, when this one was appended
	// Events have their position as Seq. There is at least one.
	Events []session.Event
	Hidden bool    // shown only with the whole log
	Began  string  // the run whose input it is
	Ended  string  // the run that its first event ends
	Rewind *Rewind // set for a rewind's marker
}

// Rewind is a rewind as recorded by its marker.
type Rewind struct {
	ToSeq int64 // the last seq that stays
	Back  bool  // the rewind restores other items
}

// Growth is the deltas added to an item in progress.
type Growth struct {
	Epoch, Seq int64  // of the item's entry
	ItemID     string // of the event
	First      int64  // the number of the first of Deltas
	Deltas     []content.Delta
}

// Messages returns the messages to watchers about a change, in order and without
// the session's id; most changes have none. They depend on the change alone, so
// that reading a change twice yields the same messages. It returns an error if the
// end of a run cannot be decoded.
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
	case c.Queue != nil:
		return []Message{QueueOf(c.Queue.Queue, c.Queue.At)}, nil
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
			event = event.With("content", content.NewDraft(content.RoleOf(event.Fields["content"])).Snapshot())
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
		m.Status, m.OnFailed = session.Failed, r.OnFailed
	}
	if e.Hidden {
		return []Message{m}, nil
	}
	mark := SnapshotOf(e.Epoch, e.Events[0])
	mark.Prev, m.Prev = prev, mark.Cursor
	return []Message{mark, m}, nil
}

// completed returns the messages for an item that may be final now.
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
