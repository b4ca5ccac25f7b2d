package watch

import (
	"maps"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
)

// InParts splits an item in progress that is too large for a message: the snapshot
// m with as many of the item's deltas as fit, and messages with the others. If the
// item is too large even without deltas, the first message is a reload.
func InParts(m Message, role string, deltas []content.Delta) ([]Message, error) {
	content, held := content.NewDraft(role), 0
	head, err := m.withContent(content, 0).encode()
	if err != nil {
		return nil, err
	}
	for size := len(head) + partSlack; held < len(deltas); held++ {
		if size += escaped(deltas[held]) + perPart(content, deltas[held]); size > MaxMessage {
			break
		}
		if err := content.Append(deltas[held], ""); err != nil {
			return nil, err
		}
	}
	first := m.withContent(content, int64(held))
	if until := int64(len(deltas)); int64(held) < until {
		first.Until = &until
	}
	rest := first
	rest.Prev = first.Cursor
	return append([]Message{first}, InDeltas(rest, deltas)...), nil
}

// withContent returns the snapshot of an item with the content of the deltas up to
// offset.
func (m Message) withContent(content *content.Draft, offset int64) Message {
	event := *m.Item
	event.Fields = maps.Clone(event.Fields)
	event.Fields["content"], event.Deltas = content.Snapshot(), offset
	m.Item, m.Offset, m.Cursor = &event, &event.Deltas, CursorAfter(m.Cursor.Epoch, event)
	return m
}

// partSlack leaves room for members added later: an offset, until and a request id.
const partSlack = requestBytes + 64

// InDeltas returns the messages that bring a watcher with the deltas up to
// m.Prev.Offset up to date: the remaining deltas, as few messages as fit. m carries
// the item.
func InDeltas(m Message, deltas []content.Delta) []Message {
	at := m.Prev.Offset
	each := make([]Message, 0, int64(len(deltas))-at)
	for i := at; i < int64(len(deltas)); i++ {
		n := i + 1
		each = append(each, Message{
			Type: DeltaType, SessionID: m.SessionID, ItemID: m.ItemID, Offset: &n, Delta: &deltas[i],
			Cursor: Cursor{Epoch: m.Cursor.Epoch, Seq: m.Cursor.Seq, Offset: n},
			Prev:   Cursor{Epoch: m.Cursor.Epoch, Seq: m.Cursor.Seq, Offset: i},
		})
	}
	var out []Message
	for start := 0; start < len(each); {
		end := endOfRange(each, start)
		out = append(out, joined(each[start:end]))
		start = end
	}
	return out
}

// perPart is what a delta adds to a content besides text: everything that is not
// text if it begins a part.
func perPart(c *content.Draft, d content.Delta) int {
	if d.Part < c.Parts() {
		return 0
	}
	empty := d
	if empty.Text = ""; d.Call != nil {
		empty.Call = &content.CallDelta{ID: d.Call.ID, Name: d.Call.Name}
	}
	raw, err := jsonx.Marshal(empty)
	if err != nil {
		return 0
	}
	return len(raw)
}

// escaped returns the size of a delta's text in JSON, in bytes.
func escaped(d content.Delta) int {
	text := d.Text
	if d.Call != nil {
		text = d.Call.ArgsText
	}
	raw, err := jsonx.Marshal(text)
	if err != nil {
		return len(text)
	}
	return len(raw)
}
