package watch_test

import (
	"encoding/json"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// world is a session with writers, a network that delays, reorders and repeats its
// messages, and a client that does what its state requires.
type world struct {
	t      *rapid.T
	writer writer
	m      *model
	state  state
	read   func() // reads the thread for the state
	now    time.Time
	gone   bool // the client got a 404
	still  bool

	queued  int          // number of stream records queued so far
	queue   []record     // not delivered yet
	passed  []record     // delivered, and may be delivered again
	conn    *connection  // nil while not connected
	pending *subscribing // an unanswered subscription
	trace   *schedule    // the recording; nil if there is none
}

// connection is the client's connection.
type connection struct {
	subscribed bool            // the client has subscribed
	watching   bool            // the server has stored the subscription
	catchUp    []watch.Message // not sent yet
	frames     []watch.Message // sent, not received
}

type subscribing struct{ from watch.Cursor }

// newWorld returns a world; a recorded one uses messages in their JSON form.
func newWorld(t *rapid.T, recorded bool) *world {
	m := newModel(int64(below(t, 3)))
	w := &world{t: t, m: m, writer: writer{t: t, m: m}, now: time.UnixMilli(1_800_000_000_000)}
	if recorded {
		w.trace = &schedule{}
	}
	return w
}

// follow sets a client that holds the whole session.
func (w *world) follow(state *view.State) {
	w.state, w.read = known{state}, func() { w.readThread(state) }
}

// pause lets things happen between two requests of a reader.
func (w *world) pause() {
	if w.still {
		return
	}
	for range below(w.t, 4) {
		w.happen(below(w.t, 8))
	}
}

// happen takes one step that the client does not wait for.
func (w *world) happen(n int) {
	switch n {
	case 0, 1:
		w.writer.write()
	case 2, 3:
		w.fanOut(1 + below(w.t, 4))
	case 4:
		w.post()
	case 5:
		w.now = w.now.Add(time.Duration(below(w.t, 600)) * time.Millisecond)
	default:
		for range 1 + below(w.t, 4) {
			w.receive()
		}
	}
}

// step takes one step of any kind.
func (w *world) step() {
	switch n := below(w.t, 40); {
	case n < 30:
		w.happen(n % 8)
	case n == 30:
		w.again()
	case n == 31:
		w.disconnect()
	default:
		w.act()
	}
}

// act takes the client's next step.
func (w *world) act() {
	switch at, due := w.state.RepairAt(); {
	case w.gone || w.state.Deleted():
	case w.state.NeedsThread():
		w.read()
	case w.conn == nil:
		w.conn = &connection{}
	case w.pending != nil:
		w.serve()
	case !w.conn.subscribed || due && !w.now.Before(at):
		w.conn.subscribed = true
		w.pending = &subscribing{w.state.Cursor()}
		w.state.Repairing(w.now)
		w.trace.repairing(w)
	}
}

// serve is the server's part of a subscription: it stores the subscription, then
// reads what the client lacks.
func (w *world) serve() {
	from, conn := w.pending.from, w.conn
	w.pending = nil
	conn.watching = true
	if w.gone = w.m.head.deleted; w.gone {
		return
	}
	w.pause()
	for _, m := range w.m.since(from, w.pause) {
		m.Subscription = "r"
		conn.catchUp = append(conn.catchUp, m)
	}
}

// readThread reads all pages of the thread, again after a rewind in between.
func (w *world) readThread(state *view.State) {
	limit := 2 + below(w.t, 30)
	var pages []json.RawMessage
	var whole view.Thread
	var after *session.Resume
	for {
		if w.gone = w.m.head.deleted; w.gone {
			return
		}
		page, next, ok := w.m.threadPage(after, limit, w.pause)
		if !ok {
			pages, whole, after = nil, view.Thread{}, nil
			continue
		}
		pages = append(pages, onWire(page, next))
		parsed, _, err := view.ParseThread(pages[len(pages)-1])
		if err != nil {
			w.t.Fatal(err)
		}
		whole = parsed.Behind(whole)
		if after = next; after == nil {
			break
		}
		w.pause()
	}
	state.Replace(whole, w.now)
	w.trace.replace(w, pages)
}

// fanOut delivers changes, in order only per item of the table.
func (w *world) fanOut(n int) {
	w.queue = append(w.queue, w.m.stream[w.queued:]...)
	w.queued = len(w.m.stream)
	var batch []watch.Message
	for range min(n, len(w.queue)) {
		i := 0
		if below(w.t, 3) == 0 {
			i = below(w.t, min(8, len(w.queue)))
		}
		r := w.queue[i]
		i = slices.IndexFunc(w.queue, func(q record) bool { return q.key == r.key })
		r = w.queue[i]
		w.queue = slices.Delete(w.queue, i, i+1)
		w.passed = append(w.passed, r)
		batch = append(batch, r.messages...)
	}
	if below(w.t, 3) == 0 {
		batch = merged(batch)
	}
	w.push(batch)
}

// again delivers a change once more.
func (w *world) again() {
	if n := len(w.passed); n > 0 {
		w.push(w.passed[n-1-below(w.t, min(12, n))].messages)
	}
}

func (w *world) push(messages []watch.Message) {
	if w.conn == nil || !w.conn.watching {
		return
	}
	for _, m := range messages {
		w.conn.frames = append(w.conn.frames, framed(m))
	}
}

// post sends a catch-up message of a subscription.
func (w *world) post() {
	if w.conn != nil && len(w.conn.catchUp) > 0 {
		w.conn.frames = append(w.conn.frames, framed(w.conn.catchUp[0]))
		w.conn.catchUp = w.conn.catchUp[1:]
	}
}

// receive delivers one message to the client.
func (w *world) receive() {
	if w.conn == nil || len(w.conn.frames) == 0 {
		return
	}
	m := w.conn.frames[0]
	w.conn.frames = w.conn.frames[1:]
	w.state.Apply(m, w.now)
	if w.trace != nil {
		w.trace.apply(w, onSocket(m))
	}
	if m.Type == watch.Rewound && below(w.t, 4) == 0 {
		w.disconnect() // before the message about restored items
	}
}

func (w *world) disconnect() {
	if w.conn != nil {
		w.conn, w.pending = nil, nil
		w.state.Lost()
		w.trace.lost(w)
	}
}

// quiet stops the writers, delivers everything, and lets the client finish.
func (w *world) quiet() {
	w.still = true
	for range 15 {
		for len(w.queue)+len(w.m.stream)-w.queued > 0 {
			w.fanOut(100)
		}
		for w.conn != nil && len(w.conn.catchUp) > 0 {
			w.post()
		}
		for w.conn != nil && len(w.conn.frames) > 0 {
			w.receive()
		}
		at, due := w.state.RepairAt()
		if w.gone || w.state.Deleted() || !due && !w.state.NeedsThread() && w.conn != nil && w.conn.subscribed && w.pending == nil {
			return
		}
		if due && w.now.Before(at) {
			w.now = at
		}
		w.act()
	}
	for w.state.NeedsThread() && !w.gone {
		w.act()
	}
}
