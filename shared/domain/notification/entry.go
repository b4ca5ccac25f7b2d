package notification

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Entry is a new entry of a session's log, or the entry of an item that was in
// progress before the change.
type Entry struct {
	Log string // the log's name
	New bool
	// By is set for an entry that begins or ends a run or is a rewind, unless it
	// was imported.
	By     *Attribution
	Events []session.Event // with their position as Seq; at least one
	Time   int64           // of the append, in epoch milliseconds
	Began  string          // the run whose input it is
	Ended  string          // the run that its first event ends
	Marker bool            // of a rewind
	OfRun  bool            // whole events that a run produced
	Open   int64           // the position of an item that was in progress before it, 0 for none
}

// OfEntry returns the events for an entry. It returns an error if an event of the
// entry cannot be decoded.
func OfEntry(e Entry) ([]Event, error) {
	if e.New && e.By != nil {
		return e.milestones()
	}
	if e.Events[0].Status == session.EventInProgress || e.New && !e.OfRun {
		return nil, nil
	}
	out := make([]Event, len(e.Events))
	for i, event := range e.Events {
		out[i] = e.item(event.InvocationID, event.Seq)
	}
	return out, nil
}

// milestones returns the events for an entry that begins or ends a run, or is a
// rewind.
func (e Entry) milestones() ([]Event, error) {
	first, last := e.Events[0].Seq, e.Events[len(e.Events)-1].Seq
	switch {
	case e.Began != "":
		return []Event{e.at(*e.By, RunStarted, e.Began, last)}, nil
	case e.Marker:
		var actions struct {
			Before string `json:"rewind_before_invocation_id"`
		}
		if err := json.Unmarshal(e.Events[0].Fields["actions"], &actions); err != nil {
			return nil, fmt.Errorf("decode a rewind: %w", err)
		}
		rewound := e.at(*e.By, SessionRewound, "", first)
		rewound.Before = actions.Before
		return []Event{rewound}, nil
	case e.Ended == "":
		return nil, nil
	}
	r, err := run.EndedBy(e.Events[0])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", e.Ended, err)
	}
	ended := e.at(*e.By, endOf(r), e.Ended, first)
	if r.Error != nil {
		ended.Error = r.Error.Code
	}
	if e.Open == 0 {
		return []Event{ended}, nil
	}
	// The transaction that ends a run may complete its item too, and a stream does
	// not order the two changes. So the end yields the item's event first; its id
	// prevents a second delivery.
	return []Event{e.item(e.Ended, e.Open), ended}, nil
}

// item returns the event for a completed item. Several changes yield it and it must
// be identical each time, so it has no attribution.
func (e Entry) item(runID string, position int64) Event {
	return e.at(Attribution{}, ItemCompleted, runID, position)
}

// at returns an event at a position of the log.
func (e Entry) at(by Attribution, typ Type, runID string, position int64) Event {
	out := by.event(typ, e.Log+"."+strconv.FormatInt(position, 10), e.Time)
	out.Log, out.RunID, out.Seq = e.Log, runID, position
	return out
}

// endOf returns the type of the event for the end of a run.
func endOf(r run.Run) Type {
	switch r.Status {
	case run.Failed:
		return RunFailed
	case run.Cancelled:
		return RunCancelled
	default:
		return RunCompleted
	}
}
