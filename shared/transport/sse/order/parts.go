package order

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// parts assembles an item in progress that was sent in several messages.
type parts struct {
	first   watch.Message
	content *content.Draft
	offset  int64
}

func newParts(m subscription.Message) (*parts, error) {
	first, err := watch.ParseMessage(m.Text)
	if err != nil {
		return nil, err
	}
	draft, err := content.ResumeDraft(first.Item.Fields["content"])
	if err != nil {
		return nil, fmt.Errorf("read the content of item %s: %w", first.ItemID, err)
	}
	return &parts{first: first, content: draft, offset: first.Cursor.Offset}, nil
}

// add appends the next message and returns the whole item once it is complete.
func (p *parts) add(m subscription.Message) (whole subscription.Message, done bool, err error) {
	next, err := watch.ParseMessage(m.Text)
	switch {
	case err != nil:
		return whole, false, err
	case next.Type != watch.DeltaType || next.Prev.Offset != p.offset || next.Cursor.Seq != p.first.Cursor.Seq:
		return whole, false, ErrGap
	}
	if err := p.content.Append(*next.Delta, ""); err != nil {
		return whole, false, fmt.Errorf("assemble item %s: %w", p.first.ItemID, err)
	}
	if p.offset = next.Cursor.Offset; p.offset < *p.first.Until {
		return whole, false, nil
	}
	whole, err = p.whole()
	return whole, true, err
}

func (p *parts) whole() (subscription.Message, error) {
	m, e := p.first, *p.first.Item
	e.Fields = maps.Clone(e.Fields)
	e.Fields["content"] = p.content.Snapshot()
	m.Item, m.Until, m.Offset, m.Cursor.Offset = &e, nil, &p.offset, p.offset
	text, err := jsonx.Marshal(m)
	if err != nil {
		return subscription.Message{}, fmt.Errorf("encode item %s: %w", m.ItemID, err)
	}
	out := subscription.Message{Type: string(m.Type), Cursor: m.Cursor, Prev: m.Prev, Subscription: m.Subscription, Text: text}
	out.Item.Status = string(e.Status)
	return out, nil
}

// asFinal turns a snapshot of an item in its final form into the message that
// completes the item at its position.
func asFinal(m subscription.Message) (subscription.Message, error) {
	m.Type = string(watch.ItemCompleted)
	if m.Item.Status == string(session.EventFailed) {
		m.Type = string(watch.ItemFailed)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(m.Text, &members); err != nil {
		return m, fmt.Errorf("read a snapshot: %w", err)
	}
	members["type"] = json.RawMessage(`"` + m.Type + `"`)
	var err error
	if m.Text, err = jsonx.Marshal(members); err != nil {
		return m, fmt.Errorf("encode the end of an item: %w", err)
	}
	return m, nil
}
