package watch_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// maxBehind takes the place of watch.MaxBehind; it is small so that schedules reach
// it.
const maxBehind = 25

// reading is a read that takes several requests, which see the session at different
// times; pause lets others write in between.
type reading struct {
	m      *model
	h      headerCopy
	head   headOfLog
	failed *run.Run
	pause  func()
}

// read reads the head of the log and then the header, so that the header is never
// older than the position sent with it.
func (m *model) read(pause func()) *reading {
	for {
		r := &reading{m: m, head: m.headOfLog(), pause: pause}
		pause()
		r.h, r.failed = m.head, m.failed
		if r.head.lastMarker != r.h.marker {
			continue
		}
		pause()
		if r.h.run != "" && m.head.run != r.h.run {
			continue
		}
		return r
	}
}

// events reads the effective events after a seq, up to the head that was read.
// Later events, and the changes of status in between, arrive as messages. It
// returns false if there was a rewind that the header does not have.
func (r *reading) events(after int64, limit int) (events []session.Event, more, ok bool) {
	for i := 0; i < len(r.m.entries); i++ {
		e := r.m.entries[i]
		if e.last() <= after {
			continue
		}
		r.pause()
		shown := r.h.timeline.Shows(e.log, e.last())
		if shown && e.timeline != nil {
			return nil, false, false
		}
		for _, ev := range e.events {
			switch {
			case ev.Seq <= after, ev.Seq > r.head.last, e.hidden, e.task, !r.h.timeline.Shows(e.log, ev.Seq):
			case len(events) == limit:
				return events, true, true
			case e.inProgress():
				events = append(events, e.snapshot())
			default:
				events = append(events, ev)
			}
		}
	}
	return events, false, true
}

// snapshot returns an item in progress with its content so far.
func (e *entry) snapshot() session.Event {
	ev := e.events[0]
	ev.Fields = map[string]json.RawMessage{"content": e.content.Snapshot()}
	ev.Deltas = e.offset
	return ev
}

// since is watch.Feed's Since.
func (m *model) since(c watch.Cursor, pause func()) []watch.Message {
	for {
		r := m.read(pause)
		if out, ok := r.since(c); ok {
			return out
		}
	}
}

func (r *reading) since(c watch.Cursor) ([]watch.Message, bool) {
	if c.Epoch != r.h.epoch || c.Seq > r.head.last {
		return []watch.Message{r.reload(c, watch.ReasonEpoch)}, true
	}
	after := c.Seq
	var streamed int64
	if c.Seq > r.m.base {
		r.pause()
		switch e := r.m.covering(c.Seq); {
		case e.inProgress(), c.Offset < e.end():
			after, streamed = c.Seq-1, c.Seq
		case e.openAt > 0 && e.content == nil:
			after = e.openAt - 1
		}
	}
	if r.head.last-after > maxBehind {
		return []watch.Message{r.reload(c, watch.ReasonBehind)}, true
	}
	events, more, ok := r.events(after, maxBehind+1)
	if more {
		return []watch.Message{r.reload(c, watch.ReasonBehind)}, ok
	}
	var out []watch.Message
	at := c
	known, large := 0, false
	for known < len(events) && events[known].Seq < c.Seq && events[known].Status != session.EventInProgress {
		large = large || strings.HasSuffix(events[known].ID, bigSuffix)
		known++
	}
	if large {
		events = events[known:]
	}
	for _, e := range events {
		for _, m := range r.messagesFor(e, at, c, streamed) {
			at = m.Cursor
			out = append(out, m)
		}
	}
	if r.h.queue.version > 0 {
		out = append(out, r.h.queue.message(at))
	}
	return append(out, r.status(at)), ok
}

// messagesFor returns the messages for an event: one, unless it would be too large.
// The end of the streamed item at the client's cursor has an offset of its own even
// without deltas.
func (r *reading) messagesFor(e session.Event, at, from watch.Cursor, streamed int64) []watch.Message {
	m := watch.SnapshotOf(r.h.epoch, e)
	if m.Prev = at; e.Seq == r.head.last && e.Status != session.EventInProgress {
		m.Cursor.Offset = max(m.Cursor.Offset, r.head.deltas)
	}
	if e.Seq == streamed && e.Status != session.EventInProgress {
		m.Cursor.Offset = e.Deltas + 1
	}
	switch of := r.m.covering(e.Seq); {
	case !strings.HasSuffix(e.ID, bigSuffix):
	case e.Status != session.EventInProgress:
	case from.Seq == e.Seq && 0 < from.Offset && from.Offset <= e.Deltas:
		// The newest delta is sent even to a client that has it: an item of which
		// nothing is sent has ended.
		m.Prev.Offset = min(from.Offset, e.Deltas-1)
		return watch.InDeltas(m, of.grown[:e.Deltas])
	default:
		return r.inParts(m, of.grown[:e.Deltas])
	}
	return []watch.Message{m}
}

// inParts splits a snapshot into one with half of the deltas, and the other deltas.
func (r *reading) inParts(m watch.Message, deltas []content.Delta) []watch.Message {
	half := int64(len(deltas) / 2)
	var said struct {
		Role string `json:"role"`
	}
	_ = json.Unmarshal(m.Item.Fields["content"], &said)
	draft := content.NewDraft(said.Role)
	for _, d := range deltas[:half] {
		if err := draft.Append(d, ""); err != nil {
			panic(err)
		}
	}
	part, until := *m.Item, int64(len(deltas))
	part.Fields, part.Deltas = map[string]json.RawMessage{"content": draft.Snapshot()}, half
	first := watch.SnapshotOf(r.h.epoch, part)
	first.Prev = m.Prev
	if half < until {
		first.Until = &until
	}
	rest := first
	rest.Prev = first.Cursor
	return append([]watch.Message{first}, watch.InDeltas(rest, deltas)...)
}

func (r *reading) reload(at watch.Cursor, reason string) watch.Message {
	return watch.Message{
		Type: watch.Reload, Prev: at, Reason: reason,
		Cursor: watch.Cursor{Epoch: r.h.epoch, Seq: r.head.last, Offset: r.head.deltas},
	}
}

func (r *reading) status(at watch.Cursor) watch.Message {
	m := watch.Message{Type: watch.Status, Prev: at, Cursor: at, Status: r.h.status, RunID: r.h.run}
	if at.Seq < r.head.last {
		m.Cursor = watch.Cursor{Epoch: r.h.epoch, Seq: r.head.last, Offset: r.head.deltas}
	}
	if r.h.status == session.Failed {
		m.RunID, m.Error, m.OnFailed = r.failed.ID, r.failed.Error, r.failed.OnFailed
	}
	return m
}

// thread is a page of GET thread, or several.
type thread struct {
	Items    []session.Event
	Cursor   watch.Cursor
	Status   session.Status
	RunID    string
	Error    *run.Problem
	OnFailed run.OnFailed
	Offsets  map[string]int64 // number of deltas in the items in progress
	Queue    queueCopy
}

// threadPage returns a page of GET thread; false is a conflict, for a resumed page
// after a rewind.
func (m *model) threadPage(after *session.Resume, limit int, pause func()) (page thread, next *session.Resume, ok bool) {
	for {
		r := m.read(pause)
		from := int64(0)
		if after != nil {
			if from = after.Seq; after.Epoch != r.h.epoch {
				return thread{}, nil, false
			}
		}
		events, more, ok := r.events(from, limit)
		if !ok {
			continue
		}
		page, next := r.page(events, from, more)
		return page, next, true
	}
}

func (r *reading) page(events []session.Event, after int64, more bool) (thread, *session.Resume) {
	out := thread{
		Items: events, Status: r.h.status, RunID: r.h.run,
		Cursor:  watch.Cursor{Epoch: r.h.epoch, Seq: r.head.last, Offset: r.head.deltas},
		Offsets: map[string]int64{}, Queue: r.h.queue,
	}
	for _, e := range events {
		if e.Status == session.EventInProgress {
			out.Offsets[e.ID] = e.Deltas
		}
	}
	if r.h.status == session.Failed {
		out.RunID, out.Error, out.OnFailed = r.failed.ID, r.failed.Error, r.failed.OnFailed
	}
	if !more {
		r.setWatchCursor(&out, after)
	}
	if len(events) == 0 || !more {
		return out, nil
	}
	last := events[len(events)-1]
	out.Cursor = watch.CursorAfter(r.h.epoch, last)
	return out, &session.Resume{Seq: last.Seq, Epoch: r.h.epoch}
}

// setWatchCursor sets the cursor of the last page: at the item in progress, otherwise
// at the head.
func (r *reading) setWatchCursor(out *thread, after int64) {
	if n := len(out.Items); n > 0 && out.Items[n-1].Seq >= out.Cursor.Seq {
		out.Cursor.Offset = max(out.Cursor.Offset, watch.CursorAfter(r.h.epoch, out.Items[n-1]).Offset)
	}
	for _, e := range out.Items {
		if e.Status == session.EventInProgress {
			out.Cursor = watch.CursorAfter(r.h.epoch, e)
		}
	}
	if open := r.head.open; open > 0 && open <= after && r.m.covering(open).inProgress() {
		out.Cursor = watch.Cursor{Epoch: r.h.epoch, Seq: open - 1}
	}
}

// onWire returns the JSON of a page.
func onWire(page thread, next *session.Resume) json.RawMessage {
	data := map[string]any{"status": page.Status, "items": page.Items, "cursor": page.Cursor, "run": nil, "offsets": page.Offsets}
	if page.Items == nil {
		data["items"] = []session.Event{}
	}
	if page.RunID != "" {
		data["run"] = run.Run{ID: page.RunID, Error: page.Error, OnFailed: page.OnFailed}
	}
	page.Queue.withQueue(data)
	meta := map[string]any{"next_cursor": nil}
	if next != nil {
		meta["next_cursor"] = fmt.Sprint(next.Seq)
	}
	return mustJSON(map[string]any{"data": data, "meta": meta})
}
