package view

import (
	"encoding/json"
	"maps"
)

// unknown is the offset of an item in progress whose content is known, but not the
// number of deltas in it.
const unknown = -1

// item is an event of a session, final or in progress.
type item struct {
	event   Event
	offset  int64
	content *content // while in progress
	changed bool     // since the event was last rendered
}

// newItem returns an item for an event as sent by the server.
func newItem(e Event, offset int64) *item {
	it := &item{event: e, offset: offset}
	if it.final() {
		return it
	}
	var ok bool
	if it.content, ok = resume(e.Fields["content"]); !ok {
		it.content = &content{role: roleOf(e)} // not built from deltas: only its role is used
		if offset > 0 {
			it.offset = unknown
		}
	}
	it.changed = true
	return it
}

func roleOf(e Event) string {
	var begun struct {
		Role string `json:"role"`
	}
	if json.Unmarshal(e.Fields["content"], &begun) != nil {
		return "" // no role, or not a string
	}
	return begun.Role
}

func (it *item) seq() int64 { return it.event.Seq }

func (it *item) final() bool { return it.event.Status != EventInProgress }

// replace replaces the item by e, unless the item is at least as recent; more says
// that deltas of e will follow.
func (it *item) replace(e Event, offset int64, more bool) (changed bool) {
	if it.final() {
		return false
	}
	fresh := newItem(e, offset)
	if !fresh.final() {
		if it.offset != unknown && fresh.offset <= it.offset {
			return false
		}
		if it.offset == unknown && !more && fresh.content.size < it.content.size {
			return false // e is older
		}
	}
	*it = *fresh
	return true
}

// grow appends a delta if it is the next one. A delta that overlaps the content
// cannot be split into its old and new part, so it waits for a snapshot, as does
// one that leaves a gap.
func (it *item) grow(m Message) (changed, taken bool) {
	switch {
	case it.final(), it.offset != unknown && m.Cursor.Offset <= it.offset:
		return false, true
	case m.Prev.Offset != it.offset:
		return false, false
	}
	if !it.content.add(*m.Delta) { // the delta continues other content
		it.offset = unknown
		return false, false
	}
	it.offset, it.changed = m.Cursor.Offset, true
	return true, true
}

// render returns the event as in GET thread.
func (it *item) render() Event {
	if it.changed {
		fields := maps.Clone(it.event.Fields)
		if fields == nil {
			fields = map[string]json.RawMessage{}
		}
		fields["content"] = it.content.snapshot()
		it.event.Fields, it.changed = fields, false
	}
	return it.event
}
