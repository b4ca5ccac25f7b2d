package view

import "encoding/json"

// Queued is an input that waits in a session until the runs before it have ended.
// It is not among the session's items before its own run begins.
type Queued struct {
	RunID      string            `json:"run_id"`
	Agent      string            `json:"agent"`
	Input      []json.RawMessage `json:"input"`       // events as they were sent
	QueuedTime int64             `json:"queued_time"` // epoch milliseconds
}

// queue is the list of a session's queued inputs.
type queue struct {
	version int64 // grows with each change; 0 for a session that never had one
	inputs  []Queued
}

// take replaces the list unless it is as new as the other. It returns whether it did.
func (q *queue) take(version int64, inputs []Queued) bool {
	if version <= q.version {
		return false
	}
	*q = queue{version, inputs}
	return true
}

// applyQueue applies a list of queued inputs. The newest version wins, irrespective
// of the positions of the message. A list without inputs requires the thread.
func (s *State) applyQueue(m Message) {
	switch {
	case !m.Truncated:
		s.changed(s.queue.take(m.QueueVersion, m.Queued), true)
	case m.QueueVersion > s.queue.version:
		s.needsThread = true
	}
}
