package watch_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// maxBehind stands for watch.MaxBehind; it is small so that schedules meet it.
const maxBehind = 25

// reading is one reader's view: requests see the session at different times,
// and pause lets others write in between.
type reading struct {
	m      *model
	h      headerCopy
	at     headOfLog
	failed *run.Run
	pause  func()
}

// read reads the head and then the header, so that what the header says is
// never older than the position it is told with.
func (m *model) read(pause func()) *reading {
	for {
		r := &reading{m: m, at: m.headOfLog(), pause: pause}
		pause()
		r.h, r.failed = m.head, m.failed
		if r.at.lastMarker != r.h.marker {
			continue
		}
		pause()
		if r.h.run != "" && m.head.run != r.h.run {
			continue
		}
		return r
	}
}

// events reads the effective events after a seq, up to the head that was read:
// what comes after it is told by messages, and so are the changes of status
// between. It returns false where a rewind came that the header does not know.
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
			case ev.Seq <= after, ev.Seq > r.at.last, e.hidden, e.task, !r.h.timeline.Shows(e.log, ev.Seq):
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

// snapshot is an item in progress with its content so far.
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
	if c.Epoch != r.h.epoch || c.Seq > r.at.last {
		return []watch.Message{r.reload(c, watch.ReasonEpoch)}, true
	}
	after := c.Seq
	if c.Seq > r.m.base {
		r.pause()
		switch e := r.m.covering(c.Seq); {
		case e.inProgress(), c.Offset < e.end():
			after = c.Seq - 1
		case e.openAt > 0 && e.content == nil:
			after = e.openAt - 1
		}
	}
	if r.at.last-after > maxBehind {
		return []watch.Message{r.reload(c, watch.ReasonBehind)}, true
	}
	events, more, ok := r.events(after, maxBehind+1)
	if more {
		return []watch.Message{r.reload(c, watch.ReasonBehind)}, ok
	}
	var out []watch.Message
	stand := c
	known, large := 0, false
	for known < len(events) && events[known].Seq < c.Seq && events[known].Status != session.EventInProgress {
		large = large || strings.HasSuffix(events[known].ID, bigSuffix)
		known++
	}
	if large {
		events = events[known:]
	}
	for _, e := range events {
		for _, m := range r.bring(e, stand, c) {
			stand = m.Cursor
			out = append(out, m)
		}
	}
	return append(out, r.status(stand)), ok
}

// bring is what brings an event: one message, unless that would be too large.
func (r *reading) bring(e session.Event, stand, from watch.Cursor) []watch.Message {
	m := watch.SnapshotOf(r.h.epoch, e)
	if m.Prev = stand; e.Seq == r.at.last && e.Status != session.EventInProgress {
		m.Cursor.Offset = max(m.Cursor.Offset, r.at.deltas)
	}
	switch of := r.m.covering(e.Seq); {
	case !strings.HasSuffix(e.ID, bigSuffix):
	case e.Status != session.EventInProgress:
	case from.Seq == e.Seq && 0 < from.Offset && from.Offset <= e.Deltas:
		m.Prev.Offset = from.Offset
		return watch.InDeltas(m, of.grown[:e.Deltas])
	default:
		return r.inParts(m, of.grown[:e.Deltas])
	}
	return []watch.Message{m}
}

// inParts is a snapshot that holds half of the deltas, and the others.
func (r *reading) inParts(m watch.Message, deltas []run.Delta) []watch.Message {
	half := int64(len(deltas) / 2)
	var said struct {
		Role string `json:"role"`
	}
	_ = json.Unmarshal(m.Item.Fields["content"], &said)
	content := run.NewContent(said.Role)
	for _, d := range deltas[:half] {
		if err := content.Append(d, ""); err != nil {
			panic(err)
		}
	}
	part, until := *m.Item, int64(len(deltas))
	part.Fields, part.Deltas = map[string]json.RawMessage{"content": content.Snapshot()}, half
	first := watch.SnapshotOf(r.h.epoch, part)
	first.Prev = m.Prev
	if half < until {
		first.Until = &until
	}
	rest := first
	rest.Prev = first.Cursor
	return append([]watch.Message{first}, watch.InDeltas(rest, deltas)...)
}

func (r *reading) reload(stand watch.Cursor, reason string) watch.Message {
	return watch.Message{
		Type: watch.Reload, Prev: stand, Reason: reason,
		Cursor: watch.Cursor{Epoch: r.h.epoch, Seq: r.at.last, Offset: r.at.deltas},
	}
}

func (r *reading) status(stand watch.Cursor) watch.Message {
	m := watch.Message{Type: watch.Status, Prev: stand, Cursor: stand, Status: r.h.status, RunID: r.h.run}
	if stand.Seq < r.at.last {
		m.Cursor = watch.Cursor{Epoch: r.h.epoch, Seq: r.at.last, Offset: r.at.deltas}
	}
	if r.h.status == session.Failed {
		m.RunID, m.Error = r.failed.ID, r.failed.Error
	}
	return m
}

// thread is a page of GET thread, or all of it.
type thread struct {
	Items   []session.Event
	Cursor  watch.Cursor
	Status  session.Status
	RunID   string
	Error   *run.Problem
	Offsets map[string]int64 // how many deltas items in progress hold
}

// threadPage is a page of GET thread. A resumed page meets a conflict, false,
// where the session was rewound since.
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
		Cursor:  watch.Cursor{Epoch: r.h.epoch, Seq: r.at.last, Offset: r.at.deltas},
		Offsets: map[string]int64{},
	}
	for _, e := range events {
		if e.Status == session.EventInProgress {
			out.Offsets[e.ID] = e.Deltas
		}
	}
	if r.h.status == session.Failed {
		out.RunID, out.Error = r.failed.ID, r.failed.Error
	}
	if !more {
		r.standAtOpen(&out, after)
	}
	if len(events) == 0 || !more {
		return out, nil
	}
	last := events[len(events)-1]
	out.Cursor = watch.Behind(r.h.epoch, last)
	return out, &session.Resume{Seq: last.Seq, Epoch: r.h.epoch}
}

// standAtOpen is where the last page is watched from: the item in progress, or
// else the head.
func (r *reading) standAtOpen(out *thread, after int64) {
	if n := len(out.Items); n > 0 && out.Items[n-1].Seq >= out.Cursor.Seq {
		out.Cursor.Offset = max(out.Cursor.Offset, watch.Behind(r.h.epoch, out.Items[n-1]).Offset)
	}
	for _, e := range out.Items {
		if e.Status == session.EventInProgress {
			out.Cursor = watch.Behind(r.h.epoch, e)
		}
	}
	if open := r.at.open; open > 0 && open <= after && r.m.covering(open).inProgress() {
		out.Cursor = watch.Cursor{Epoch: r.h.epoch, Seq: open - 1}
	}
}

// onWire is the page as GET thread answers it.
func onWire(page thread, next *session.Resume) json.RawMessage {
	data := map[string]any{"status": page.Status, "items": page.Items, "cursor": page.Cursor, "run": nil, "offsets": page.Offsets}
	if page.Items == nil {
		data["items"] = []session.Event{}
	}
	if page.RunID != "" {
		data["run"] = run.Run{ID: page.RunID, Error: page.Error}
	}
	meta := map[string]any{"next_cursor": nil}
	if next != nil {
		meta["next_cursor"] = fmt.Sprint(next.Seq)
	}
	return mustJSON(map[string]any{"data": data, "meta": meta})
}
