package follow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// view is a session from a position on: as its thread showed it, changed by the
// messages since then.
type view struct {
	items   []*viewItem // by position
	status  session.Status
	runID   string // of the run in progress, or that failed
	deleted bool
}

// viewItem is an event, final or in progress.
type viewItem struct {
	event   session.Event
	content *content.Draft // of an event in progress
	stale   bool           // content has changed since the event was rendered
}

func newViewItem(e session.Event) *viewItem {
	it := &viewItem{event: e}
	if e.Status != session.EventInProgress {
		return it
	}
	var err error
	if it.content, err = content.ResumeDraft(e.Fields["content"]); err != nil {
		it.content = content.NewDraft("") // without content, as at its beginning
	}
	return it
}

// apply changes the view by the next message.
func (v *view) apply(m watch.Message) error {
	switch m.Type {
	case watch.Snapshot:
		v.cut(m.Item.Seq)
		v.items = append(v.items, newViewItem(*m.Item))
	case watch.DeltaType:
		if it := v.find(m.ItemID); it != nil && it.content != nil {
			if err := it.content.Append(*m.Delta, ""); err != nil {
				return fmt.Errorf("add to item %s: %w", m.ItemID, err)
			}
			it.stale = true
		}
	case watch.ItemCompleted, watch.ItemFailed:
		if it := v.find(m.ItemID); it != nil {
			*it = *newViewItem(*m.Item)
		}
	case watch.Status:
		if m.Status != "" {
			v.status, v.runID = m.Status, m.RunID
		}
	case watch.Rewound: // never happens during a run
		v.cut(*m.ToSeq + 1)
		v.status, v.runID = session.Idle, ""
	case watch.Deleted:
		v.deleted = true
	default: // a reload was handled before; other types do not change the view
	}
	return nil
}

// cut drops the item at a position and all after it.
func (v *view) cut(seq int64) {
	v.items = slices.DeleteFunc(v.items, func(it *viewItem) bool { return it.event.Seq >= seq })
}

// find returns an item by its id, nil if the view does not have it.
func (v *view) find(id string) *viewItem {
	for _, it := range v.items {
		if it.event.ID == id {
			return it
		}
	}
	return nil
}

// eventsOf returns the events of runs, those in progress with their content so
// far.
func (v *view) eventsOf(runs []string) []session.Event {
	var out []session.Event
	for _, it := range v.items {
		if slices.Contains(runs, it.event.InvocationID) {
			out = append(out, it.render())
		}
	}
	return out
}

func (it *viewItem) render() session.Event {
	if it.stale {
		fields := maps.Clone(it.event.Fields)
		if fields == nil {
			fields = map[string]json.RawMessage{}
		}
		fields["content"] = it.content.Snapshot()
		it.event.Fields, it.stale = fields, false
	}
	return it.event
}
