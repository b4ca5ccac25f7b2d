package rethread

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// Watched is a session at one moment, as GET /sessions/{id}/thread returns it. Later
// changes do not modify it.
type Watched struct {
	Items  []Event // oldest first; those in progress with their content so far
	Status Status
	RunID  string    // of the run in progress or the failed run; "" otherwise
	Error  *RunError // why the last run failed
	Epoch  int64     // number of rewinds
	// Queued holds the inputs that wait for runs of their own, in order. QueueVersion
	// grows with each change of it; it is 0 in a session that never had any.
	Queued       []QueuedInput
	QueueVersion int64
}

// converter converts sessions of the view, each final item once.
type converter struct {
	final map[eventKey]Event
}

// eventKey identifies the final form of an event: after a rewind another may have its
// position, and an event may have its id again.
type eventKey struct {
	id  string
	seq int64
}

// watched converts a session.
func (c *converter) watched(s view.Session) (Watched, error) {
	out := Watched{
		Items: make([]Event, len(s.Items)), Status: Status(s.Status), RunID: s.RunID, Epoch: s.Epoch, QueueVersion: s.QueueVersion,
	}
	if s.Error != nil {
		out.Error = &RunError{s.Error.Code, s.Error.Message}
	}
	known := make(map[eventKey]Event, len(s.Items))
	for i, item := range s.Items {
		key := eventKey{item.ID, item.Seq}
		e, ok := c.final[key]
		if !ok {
			if err := convert(item, &e); err != nil {
				return Watched{}, err
			}
		}
		if item.Status != view.EventInProgress {
			known[key] = e
		}
		out.Items[i] = e
	}
	c.final = known
	if len(s.Queued) > 0 {
		return out, convert(s.Queued, &out.Queued)
	}
	return out, nil
}

func convert(from, to any) error {
	raw, err := encode(from)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		return fmt.Errorf("convert an item: %w", err)
	}
	return nil
}
