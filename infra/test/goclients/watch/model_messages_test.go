package watch_test

import (
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// bigSuffix marks items that are too large for a frame.
const bigSuffix = "-big"

// publish adds the messages of an entry that was put or rewritten to the stream.
func (m *model) publish(e *entry, isNew bool) {
	r := record{key: fmt.Sprint("entry ", e.first)}
	prev := watch.Cursor{Epoch: e.epoch, Seq: e.first - 1, Offset: e.prevDeltas}
	at := watch.Cursor{Epoch: e.epoch, Seq: e.last()}
	switch {
	case !isNew:
		r.messages = messagesOfItem(e)
	case e.timeline != nil:
		r.messages = messagesOfMarker(e, at, prev)
	case e.ended != "":
		r.messages = messagesOfEnd(e, at, prev)
	case e.hidden || e.task:
		r.messages = []watch.Message{{Type: watch.Status, Cursor: at, Prev: prev}}
	default:
		r.messages = messagesOfEvents(e, prev)
	}
	m.stream = append(m.stream, r)
}

func messagesOfItem(e *entry) []watch.Message {
	item := e.events[0]
	prev := watch.Cursor{Epoch: e.epoch, Seq: e.first, Offset: e.deltas}
	at := prev
	at.Offset = e.end()
	out := watch.Message{
		Type: watch.ItemCompleted, Cursor: at, Prev: prev, Item: &item, ItemID: item.ID, Offset: &prev.Offset,
	}
	if item.Status == session.EventFailed {
		out.Type = watch.ItemFailed
	}
	return []watch.Message{out}
}

func messagesOfMarker(e *entry, at, prev watch.Cursor) []watch.Message {
	prev.Epoch--
	toSeq, epoch := e.toSeq, e.epoch
	if e.back {
		return []watch.Message{{Type: watch.Reload, Cursor: at, Prev: prev, Reason: watch.ReasonEpoch}}
	}
	return []watch.Message{
		{Type: watch.Rewound, Cursor: at, Prev: prev, ToSeq: &toSeq, Epoch: &epoch},
		{Type: watch.Status, Cursor: at, Prev: at, Status: session.Idle},
	}
}

func messagesOfEnd(e *entry, at, prev watch.Cursor) []watch.Message {
	out := watch.Message{
		Type: watch.Status, Cursor: at, Prev: prev, Status: session.Idle, RunID: e.run.ID, Error: e.run.Error,
	}
	if e.run.Status == run.Failed {
		out.Status, out.OnFailed = session.Failed, e.run.OnFailed
	}
	return []watch.Message{out}
}

func messagesOfEvents(e *entry, prev watch.Cursor) []watch.Message {
	var out []watch.Message
	for _, ev := range e.events {
		if e.inProgress() {
			ev = e.snapshot()
		}
		m := watch.SnapshotOf(e.epoch, ev)
		m.Prev, prev = prev, m.Cursor
		out = append(out, m)
	}
	if e.began != "" {
		out = append(out, watch.Message{
			Type: watch.Status, Cursor: prev, Prev: prev, Status: session.InProgress, RunID: e.began,
		})
	}
	return out
}

func deltaMessage(e *entry, d content.Delta) watch.Message {
	n := e.offset
	return watch.Message{
		Type: watch.DeltaType, ItemID: e.events[0].ID, Offset: &n, Delta: &d,
		Cursor: watch.Cursor{Epoch: e.epoch, Seq: e.first, Offset: n},
		Prev:   watch.Cursor{Epoch: e.epoch, Seq: e.first, Offset: n - 1},
	}
}

// merged joins consecutive deltas, as a fan-out does that is behind.
func merged(messages []watch.Message) []watch.Message {
	var out []watch.Message
	for _, m := range messages {
		if n := len(out); n > 0 && m.Type == watch.DeltaType && out[n-1].Type == watch.DeltaType &&
			m.ItemID == out[n-1].ItemID && out[n-1].Cursor == m.Prev {
			if joined := content.Coalesce([]content.Delta{*out[n-1].Delta, *m.Delta}); len(joined) == 1 {
				m.Prev, m.Delta = out[n-1].Prev, &joined[0]
				out[n-1] = m
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

// framed returns the message that is sent: a Reload if the item is too large.
func framed(m watch.Message) watch.Message {
	m.SessionID = sessionID
	if m.Item != nil && strings.HasSuffix(m.Item.ID, bigSuffix) && m.Item.Status != session.EventInProgress {
		m = watch.Message{Type: watch.Reload, SessionID: sessionID, Cursor: m.Cursor, Prev: m.Prev, Subscription: m.Subscription, Reason: watch.ReasonSize}
	}
	return m
}
