package run

import (
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

// Limits of a session's queue.
const (
	// MaxQueued is how many starts may wait in one session.
	MaxQueued = 10
	// MaxQueuedBytes is the maximum size of their inputs together, as JSON.
	MaxQueuedBytes = 200 << 10
	// maxRemoved is how many cancelled starts a queue remembers.
	maxRemoved = 100
)

// Queued is a start that waits until the runs before it have ended. Its input gets
// its positions in the log when the run begins.
type Queued struct {
	RunID    string
	Agent    string
	Input    []session.Event
	OnFailed OnFailed
	Chain    []string // as in Start
	Time     int64    // when it was accepted, in epoch milliseconds
}

// Size returns the size of the input as JSON, in bytes.
func (q Queued) Size() int {
	n := 0
	for _, e := range q.Input {
		n += len(e.Own())
	}
	return n
}

// Removed is a start that left the queue without a run of its own: it was cancelled,
// or merged into another start.
type Removed struct {
	RunID  string `json:"id"`
	Agent  string `json:"agent"`
	Queued int64  `json:"queued"` // when it was accepted, in epoch milliseconds
	Time   int64  `json:"time"`   // when it was removed
}

// Queue is the starts that wait in a session, in the order in which they were
// accepted.
type Queue struct {
	// Version is 0 for a session without any queued start so far and grows with each
	// change, also when the queue is empty.
	Version int64
	Starts  []Queued
	// Removed is the latest removed starts, the oldest first.
	Removed []Removed
}

// Find returns a queued or removed start as a run; nil if there is none with that
// id. Until a queued run begins, its start time is when it was accepted.
func (q Queue) Find(ref Ref) *Run {
	for _, s := range q.Starts {
		if s.RunID == ref.RunID {
			return &Run{
				ID: s.RunID, SessionID: ref.SessionID, Agent: s.Agent, Mode: Managed, Status: Waiting,
				StartedTime: s.Time, QueuedTime: s.Time,
			}
		}
	}
	for _, s := range q.Removed {
		if s.RunID == ref.RunID {
			return &Run{
				ID: s.RunID, SessionID: ref.SessionID, Agent: s.Agent, Mode: Managed, Status: Cancelled,
				StartedTime: s.Queued, QueuedTime: s.Queued, EndedTime: &s.Time,
			}
		}
	}
	return nil
}

// Accept returns the queue with another start at its end. It returns fault.Conflict,
// with run_id, if the queue would exceed its limits. The session's active run is ""
// for none.
func (q Queue) Accept(s Queued, active string) (Queue, error) {
	bytes := s.Size()
	for _, before := range q.Starts {
		bytes += before.Size()
	}
	if len(q.Starts) >= MaxQueued || bytes > MaxQueuedBytes {
		f := fault.New(fault.QueueFull, "the session's queue is full: it holds at most %d inputs, of %d bytes in all", MaxQueued, MaxQueuedBytes)
		if active == "" && len(q.Starts) > 0 {
			active = q.Starts[0].RunID
		}
		return q, f.With("run_id", active).With("queued", len(q.Starts)).With("max_queued", MaxQueued)
	}
	return Queue{Version: q.Version + 1, Starts: append(slices.Clip(q.Starts), s), Removed: q.Removed}, nil
}

// Begin returns the queue without its first start.
func (q Queue) Begin() Queue {
	return Queue{Version: q.Version + 1, Starts: q.Starts[1:], Removed: q.Removed}
}

// Cancel returns the queue without the start with that id.
func (q Queue) Cancel(runID string, now int64) Queue {
	return q.remove(now, func(s Queued) bool { return s.RunID == runID })
}

// Merge returns the queue without any start.
func (q Queue) Merge(now int64) Queue { return q.remove(now, func(Queued) bool { return true }) }

func (q Queue) remove(now int64, matches func(Queued) bool) Queue {
	out := Queue{Version: q.Version + 1, Removed: slices.Clone(q.Removed)}
	for _, s := range q.Starts {
		if matches(s) {
			out.Removed = append(out.Removed, Removed{RunID: s.RunID, Agent: s.Agent, Queued: s.Time, Time: now})
		} else {
			out.Starts = append(out.Starts, s)
		}
	}
	out.Removed = out.Removed[max(0, len(out.Removed)-maxRemoved):]
	return out
}

// Queued returns the start as an entry of a queue.
func (s Start) Queued(now int64) Queued {
	return Queued{RunID: s.RunID, Agent: s.Agent, Input: s.Input, OnFailed: s.OnFailed, Chain: s.Chain, Time: now}
}

// Start returns the start that begins a queued run.
func (q Queued) Start(userID, sessionID string) Start {
	return Start{
		Ref:   Ref{UserID: userID, SessionID: sessionID, RunID: q.RunID},
		Agent: q.Agent, Mode: Managed, Input: q.Input, OnActive: Reject, OnFailed: q.OnFailed, Chain: q.Chain,
		QueuedTime: q.Time,
	}
}

// next returns the queued start that begins as soon as no run is active; nil if the
// queue is empty or waits until a failed run is discarded.
func (b Before) next() *Queued {
	if len(b.Queue) == 0 {
		return nil
	}
	if first := &b.Queue[0]; b.Active != "" || !b.blocks(first.OnFailed) {
		return first
	}
	return nil
}

// blocks reports whether the last run's failure prevents a start.
func (b Before) blocks(on OnFailed) bool { return b.Failed && b.Unfinished != "" && on == Block }

// Startable reports whether a queued start may begin now.
func (b Before) Startable() bool { return b.Active == "" && b.next() != nil }

// Rewindable returns fault.Conflict, with run_id, if queued starts are about to
// begin, so that the session cannot be rewound.
func (b Before) Rewindable() error {
	if next := b.next(); next != nil {
		return fault.New(fault.InputsQueued, "inputs are queued and about to start: cancel them first").With("run_id", next.RunID)
	}
	return nil
}
