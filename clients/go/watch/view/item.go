package view

import (
	"encoding/json"
	"maps"
)

// unknown is the offset of an item in progress whose content is there, but not
// how many deltas it holds.
const unknown = -1

// item is an event of a session, final or in progress.
type item struct {
	event   Event
	offset  int64
	content *content // of one in progress
	grew    bool     // since the event was rendered
}

// newItem is an item as it was sent.
func newItem(e Event, offset int64) *item {
	it := &item{event: e, offset: offset}
	if it.final() {
		return it
	}
	var ok bool
	if it.content, ok = resume(e.Fields["content"]); !ok {
		it.content = &content{role: roleOf(e)} // as it was begun: it says who speaks
		if offset > 0 {
			it.offset = unknown
		}
	}
	it.grew = true
	return it
}

func roleOf(e Event) string {
	var begun struct {
		Role string `json:"role"`
	}
	if json.Unmarshal(e.Fields["content"], &begun) != nil {
		return "" // none was given, or one that is no text
	}
	return begun.Role
}

func (it *item) seq() int64 { return it.event.Seq }

func (it *item) final() bool { return it.event.Status != EventInProgress }

// replace takes the item as it was sent, unless what is there is as new; more
// says that what is sent is not all of it.
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
			return false // it comes from before
		}
	}
	*it = *fresh
	return true
}

// grow appends a delta that is the next one. One that begins before the end of
// what is there cannot be told apart into old and new, and has to wait for a
// snapshot like one that begins behind it.
func (it *item) grow(m Message) (changed, taken bool) {
	switch {
	case it.final(), it.offset != unknown && m.Cursor.Offset <= it.offset:
		return false, true
	case m.Prev.Offset != it.offset:
		return false, false
	}
	if !it.content.add(*m.Delta) { // this is not the content that it continues
		it.offset = unknown
		return false, false
	}
	it.offset, it.grew = m.Cursor.Offset, true
	return true, true
}

// render is the event as GET thread shows it.
func (it *item) render() Event {
	if it.grew {
		fields := maps.Clone(it.event.Fields)
		if fields == nil {
			fields = map[string]json.RawMessage{}
		}
		fields["content"] = it.content.snapshot()
		it.event.Fields, it.grew = fields, false
	}
	return it.event
}
