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

// world is a session that others write to, a network that delays, reorders and
// repeats what is told of it, and a client that does what its state asks for.
type world struct {
	t      *rapid.T
	writer writer
	m      *model
	state  state
	read   func() // the thread, for the state
	now    time.Time
	gone   bool // the client was told that there is no such session
	still  bool

	told   int       // records of the stream that were seen
	queue  []record  // those not delivered yet
	passed []record  // those that were, and may come again
	line   *line     // nil while not connected
	asked  *asking   // a subscription that is not answered yet
	trace  *schedule // what the state met; nil where it is not recorded
}

// line is a connection, up to when it breaks.
type line struct {
	subscribed bool            // by the client
	watching   bool            // as the server knows
	catchUp    []watch.Message // to be posted
	frames     []watch.Message // posted, not received
}

type asking struct{ from watch.Cursor }

// newWorld is a world; one that is recorded talks JSON, as the wire does.
func newWorld(t *rapid.T, recorded bool) *world {
	m := newModel(int64(below(t, 3)))
	w := &world{t: t, m: m, writer: writer{t: t, m: m}, now: time.UnixMilli(1_800_000_000_000)}
	if recorded {
		w.trace = &schedule{}
	}
	return w
}

// follow has a client that holds all of the session.
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

// happen does one thing that needs nobody to wait for it.
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

// step does any one thing.
func (w *world) step() {
	switch n := below(w.t, 40); {
	case n < 30:
		w.happen(n % 8)
	case n == 30:
		w.again()
	case n == 31:
		w.breakLine()
	default:
		w.act()
	}
}

// act is what the client does by itself.
func (w *world) act() {
	switch at, due := w.state.RepairAt(); {
	case w.gone || w.state.Deleted():
	case w.state.NeedsThread():
		w.read()
	case w.line == nil:
		w.line = &line{}
	case w.asked != nil:
		w.serve()
	case !w.line.subscribed || due && !w.now.Before(at):
		w.line.subscribed = true
		w.asked = &asking{w.state.Cursor()}
		w.state.Repairing(w.now)
		w.trace.repairing(w)
	}
}

// serve is the server's part of a subscription: first the connection watches,
// then what it lacks is read.
func (w *world) serve() {
	from, on := w.asked.from, w.line
	w.asked = nil
	on.watching = true
	if w.gone = w.m.head.deleted; w.gone {
		return
	}
	w.pause()
	for _, m := range w.m.since(from, w.pause) {
		m.Subscription = "r"
		on.catchUp = append(on.catchUp, m)
	}
}

// readThread reads all pages of the thread, again where a rewind comes between.
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

// fanOut delivers changes, in the order of each item of the table alone.
func (w *world) fanOut(n int) {
	w.queue = append(w.queue, w.m.stream[w.told:]...)
	w.told = len(w.m.stream)
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

// again delivers a change that was delivered before.
func (w *world) again() {
	if n := len(w.passed); n > 0 {
		w.push(w.passed[n-1-below(w.t, min(12, n))].messages)
	}
}

func (w *world) push(messages []watch.Message) {
	if w.line == nil || !w.line.watching {
		return
	}
	for _, m := range messages {
		w.line.frames = append(w.line.frames, framed(m))
	}
}

// post posts a message that answers a subscription.
func (w *world) post() {
	if w.line != nil && len(w.line.catchUp) > 0 {
		w.line.frames = append(w.line.frames, framed(w.line.catchUp[0]))
		w.line.catchUp = w.line.catchUp[1:]
	}
}

// receive gives the client one message.
func (w *world) receive() {
	if w.line == nil || len(w.line.frames) == 0 {
		return
	}
	m := w.line.frames[0]
	w.line.frames = w.line.frames[1:]
	w.state.Apply(m, w.now)
	if w.trace != nil {
		w.trace.apply(w, onSocket(m))
	}
	if m.Type == watch.Rewound && below(w.t, 4) == 0 {
		w.breakLine() // before it is told whether items come back
	}
}

func (w *world) breakLine() {
	if w.line != nil {
		w.line, w.asked = nil, nil
		w.state.Lost()
		w.trace.lost(w)
	}
}

// quiet lets everything arrive, and the client do what it has to; nobody writes
// any more.
func (w *world) quiet() {
	w.still = true
	for range 15 {
		for len(w.queue)+len(w.m.stream)-w.told > 0 {
			w.fanOut(100)
		}
		for w.line != nil && len(w.line.catchUp) > 0 {
			w.post()
		}
		for w.line != nil && len(w.line.frames) > 0 {
			w.receive()
		}
		at, due := w.state.RepairAt()
		if w.gone || w.state.Deleted() || !due && !w.state.NeedsThread() && w.line != nil && w.line.subscribed && w.asked == nil {
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
