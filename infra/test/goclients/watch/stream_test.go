package watch_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// Under any schedule of the network between the table's stream and a stream of
// server-sent events, and of interruptions of the latter, a reader that applies
// events in the order of arrival ends with what GET thread shows.
func TestAnyScheduleOfServerSentEventsEndsAtTheThread(t *testing.T) {
	schedules, frames, streams, large, queues := 0, 0, 0, 0, 0
	property.CheckN(t, 1000, func(t *rapid.T) {
		w := newWorld(t, false)
		s := &sseReader{world: w}
		s.begin(watch.Cursor{}, false)
		w.state, w.read = s, s.readThread
		s.readThread()
		for range 20 + below(t, 80) {
			w.step()
		}
		w.quiet()
		schedules, frames, streams, large = schedules+1, frames+s.frames, streams+s.streams, large+s.large
		queues += s.queued
		if w.gone || s.deleted {
			return
		}
		want := w.m.thread()
		if diff := cmp.Diff(mustText(want.Queued), mustText(s.queue.list())); diff != "" {
			t.Fatalf("the queue of the thread, and what the reader shows (-thread +reader):\n%s", diff)
		}
		if diff := cmp.Diff(mustText(want.Items), mustText(s.items())); diff != "" || want.Status != s.status {
			t.Fatalf("status %s, want %s; the thread, and what the reader shows (-thread +reader):\n%s", s.status, want.Status, diff)
		}
	})
	t.Logf("%d schedules, %d frames in %d streams, %d items too large for a websocket, %d queues", schedules, frames, streams, large, queues)
	if schedules < 1000 || frames < 10_000 || streams < 1000 || large < 100 || queues < 1000 {
		t.Error("too few schedules, large items or queues")
	}
}

// sseReader is a reader of server-sent events together with the bridge that serves
// them: streams that end at any time, each over a websocket of the world.
type sseReader struct {
	world *world
	order *order.Order
	ids   string // of the newest event

	shown   []session.Event
	status  string
	queue   queueCopy
	deleted bool
	hasID   bool // ids is of an event
	lost    bool // the websocket, or what is missing
	busy    bool // with a message: it takes one at a time
	waiting []watch.Message

	frames, streams, large, queued int
}

// readThread reads the thread, at the beginning and after a reload, and watches
// from its cursor.
func (s *sseReader) readThread() {
	w := s.world
	for {
		page, _, ok := w.m.threadPage(nil, 1<<30, w.pause)
		if w.gone = w.m.head.deleted; w.gone {
			return
		}
		if !ok {
			continue
		}
		s.shown, s.status = slices.Clone(page.Items), string(page.Status)
		s.takeQueue(page.Queue)
		s.hasID = false
		s.begin(page.Cursor, false)
		return
	}
}

// begin begins a stream after the previous one has ended.
func (s *sseReader) begin(at watch.Cursor, resumed bool) {
	hasStatus := s.order != nil && s.order.CaughtUp()
	s.order = order.New(s.event, func() time.Time { return s.world.now })
	s.ids = at.String()
	s.streams++
	if s.order.Begin(at); resumed {
		s.order.Resume(at, hasStatus)
	}
	s.lost, s.waiting, s.world.conn, s.world.pending = true, nil, nil, nil
}

func (s *sseReader) id() watch.Cursor {
	c, err := watch.ParseCursor(s.ids)
	if err != nil {
		s.world.t.Fatal(err)
	}
	return c
}

// The methods of state.

func (s *sseReader) NeedsThread() bool { return false }
func (s *sseReader) Deleted() bool     { return s.deleted }
func (s *sseReader) Lost() {
	if s.lost, s.waiting = true, nil; below(s.world.t, 2) == 0 { // the stream ends too
		s.begin(s.id(), s.hasID) // by header or by query parameter
	}
}

func (s *sseReader) Cursor() watch.Cursor {
	if at, ok := s.order.Cursor(); ok {
		return at
	}
	return s.id()
}

func (s *sseReader) RepairAt() (time.Time, bool) { return s.order.Due(time.Second) }

// Repairing reports that another websocket begins.
func (s *sseReader) Repairing(time.Time) {
	s.lost = false
	s.order.Subscribed()
	s.world.conn = &connection{subscribed: true}
}

// Apply passes a message of the websocket to the bridge.
func (s *sseReader) Apply(m watch.Message, _ time.Time) bool {
	before := s.frames
	if !s.lost {
		s.waiting = append(s.waiting, m)
	}
	if s.busy {
		return false
	}
	for s.busy = true; len(s.waiting) > 0; {
		m, s.waiting = s.waiting[0], s.waiting[1:]
		s.deliver(m)
	}
	s.busy = false
	return s.frames > before
}

func (s *sseReader) deliver(m watch.Message) {
	frame := onSocket(m)
	var in subscription.Message
	if err := json.Unmarshal(frame, &in); err != nil {
		s.world.t.Fatal(err)
	}
	in.Text = frame
	var err error
	switch stream := s.order; {
	case !order.TooLarge(in):
		err = s.order.Take(in)
	case s.order.Lacks(in):
		if in, err = s.read(in); s.order != stream {
			return // the stream has ended, and the message is lost with it
		}
		if err == nil {
			err = s.order.Take(in)
		}
	}
	switch {
	case errors.Is(err, order.ErrDeleted):
		s.deleted = true
	case errors.Is(err, order.ErrReload):
		s.readThread()
	case errors.Is(err, order.ErrGap):
		s.lost, s.waiting, s.world.conn, s.world.pending = true, nil, nil, nil
	case err != nil:
		s.world.t.Fatal(err)
	}
}

// read is what the bridge reads for an item that is too large.
func (s *sseReader) read(m subscription.Message) (subscription.Message, error) {
	s.large++
	r := s.world.m.read(s.world.pause)
	events, _, ok := r.events(m.Cursor.Seq-1, 1)
	if !ok || len(events) == 0 || events[0].Seq != m.Cursor.Seq || events[0].Status == session.EventInProgress {
		return m, order.ErrGap
	}
	e := events[0]
	whole := watch.SnapshotOf(m.Cursor.Epoch, e)
	whole.Cursor, whole.Prev, whole.Subscription = m.Cursor, m.Prev, m.Subscription
	if m.Prev.Seq == m.Cursor.Seq && m.Subscription == "" {
		if whole.Type = watch.ItemCompleted; e.Status == session.EventFailed {
			whole.Type = watch.ItemFailed
		}
	}
	out := subscription.Message{Type: string(whole.Type), Cursor: m.Cursor, Prev: m.Prev, Subscription: m.Subscription}
	out.Item.Status = string(e.Status)
	out.Text = mustJSON(whole)
	return out, nil
}

// event is all that the reader does with an event of the stream.
func (s *sseReader) event(kind string, text []byte) error {
	s.frames++
	t := s.world.t
	if at, ok := s.order.Cursor(); ok {
		s.ids, s.hasID = at.String(), true
	}
	m, err := watch.ParseMessage(text)
	if err != nil || string(m.Type) != kind {
		t.Fatalf("%s: %s, %v", kind, text, err)
	}
	switch m.Type {
	case watch.Snapshot:
		s.shown = append(slices.DeleteFunc(s.shown, func(e session.Event) bool { return e.Seq >= m.Item.Seq }), *m.Item)
	case watch.DeltaType:
		e := s.item(m.ItemID)
		draft, err := content.ResumeDraft(e.Fields["content"])
		if err != nil {
			draft = content.NewDraft("")
		}
		if err := draft.Append(*m.Delta, ""); err != nil {
			t.Fatal(err)
		}
		e.Fields = map[string]json.RawMessage{"content": draft.Snapshot()}
	case watch.ItemCompleted, watch.ItemFailed:
		*s.item(m.ItemID) = *m.Item
	case watch.Rewound:
		s.shown = slices.DeleteFunc(s.shown, func(e session.Event) bool { return e.Seq > *m.ToSeq })
	case watch.Status:
		if m.Status != "" {
			s.status = string(m.Status)
		}
	case watch.QueueType:
		s.queued++
		if queue := (queueCopy{m.QueueVersion, *m.Queued}); !m.Truncated {
			s.takeQueue(queue)
		} else if m.QueueVersion > s.queue.version {
			s.takeQueue(s.world.m.read(s.world.pause).h.queue)
		}
	default: // the end of the stream
	}
	return nil
}

// takeQueue keeps a queue of a higher version.
func (s *sseReader) takeQueue(q queueCopy) {
	if q.version > s.queue.version {
		s.queue = q
	}
}

func (s *sseReader) item(id string) *session.Event {
	i := slices.IndexFunc(s.shown, func(e session.Event) bool { return e.ID == id })
	if i < 0 {
		s.world.t.Fatalf("no item %s", id)
	}
	return &s.shown[i]
}

func (s *sseReader) items() json.RawMessage {
	if len(s.shown) == 0 {
		return json.RawMessage("[]")
	}
	return mustJSON(s.shown)
}
