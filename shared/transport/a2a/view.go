package a2a

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// view is a session from a task on: as its thread showed it, and as messages
// change it that come in order.
type view struct {
	items   []*shown // by position
	status  session.Status
	runID   string // of the run in progress, or that failed
	deleted bool
}

// shown is an event, final or in progress.
type shown struct {
	event   session.Event
	content *run.Content // of one in progress
	grew    bool         // since the event was rendered
}

func newShown(e session.Event) *shown {
	it := &shown{event: e}
	if e.Status != session.EventInProgress {
		return it
	}
	var err error
	if it.content, err = run.ResumeContent(e.Fields["content"]); err != nil {
		it.content = run.NewContent("") // as it was begun, without any
	}
	return it
}

// apply changes the view as the next message says.
func (v *view) apply(m watch.Message) error {
	switch m.Type {
	case watch.Snapshot:
		v.cut(m.Item.Seq)
		v.items = append(v.items, newShown(*m.Item))
	case watch.DeltaType:
		if it := v.find(m.ItemID); it != nil && it.content != nil {
			if err := it.content.Append(*m.Delta, ""); err != nil {
				return fmt.Errorf("add to item %s: %w", m.ItemID, err)
			}
			it.grew = true
		}
	case watch.ItemCompleted, watch.ItemFailed:
		if it := v.find(m.ItemID); it != nil {
			*it = *newShown(*m.Item)
		}
	case watch.Status:
		if m.Status != "" {
			v.status, v.runID = m.Status, m.RunID
		}
	case watch.Rewound: // which meets no run
		v.cut(*m.ToSeq + 1)
		v.status, v.runID = session.Idle, ""
	case watch.Deleted:
		v.deleted = true
	default: // a reload is seen to before, and nothing else has a meaning here
	}
	return nil
}

// cut drops the item at a position and all behind it.
func (v *view) cut(seq int64) {
	v.items = slices.DeleteFunc(v.items, func(it *shown) bool { return it.event.Seq >= seq })
}

// find is an item by its id, nil where it is none of the view.
func (v *view) find(id string) *shown {
	for _, it := range v.items {
		if it.event.ID == id {
			return it
		}
	}
	return nil
}

// of is the events of runs, those in progress with their content so far.
func (v *view) of(runs []string) []session.Event {
	var out []session.Event
	for _, it := range v.items {
		if slices.Contains(runs, it.event.InvocationID) {
			out = append(out, it.render())
		}
	}
	return out
}

func (it *shown) render() session.Event {
	if it.grew {
		fields := maps.Clone(it.event.Fields)
		if fields == nil {
			fields = map[string]json.RawMessage{}
		}
		fields["content"] = it.content.Snapshot()
		it.event.Fields, it.grew = fields, false
	}
	return it.event
}
