package users

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/chaos/fold"
)

// maxStreams limits the watchers that use server-sent events: each occupies a
// function.
const maxStreams = 5

// Watchers keep sessions current during the faults.
type Watchers struct {
	world   *World
	running sync.WaitGroup
	ctx     context.Context //nolint:containedctx // of the watchers, which outlive the devices
	stop    context.CancelFunc

	mu      sync.Mutex
	clients map[*Person]*watch.Client
	all     []*Watcher
	streams int
}

// Watcher is a watcher of a session.
type Watcher struct {
	Session string
	By      string // the transport

	mu       sync.Mutex
	view     view.Session
	changes  int
	ended    error
	over     bool
	shown    map[string]Shown // by item
	problems []string
}

// Shown is what was shown of an item: its final form or, before that, its
// progress.
type Shown struct {
	Status view.EventStatus
	Text   string
}

func newWatchers(w *World) *Watchers {
	ws := &Watchers{world: w, clients: map[*Person]*watch.Client{}}
	ws.ctx, ws.stop = context.WithCancel(context.Background())
	return ws
}

// maybe starts a watcher or two of a session.
func (ws *Watchers) maybe(_ context.Context, random *rand.Rand, t *Session) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if random.IntN(2) == 0 {
		ws.bySocket(t)
	}
	if random.IntN(4) == 0 && ws.streams < maxStreams {
		ws.streams++
		ws.byStream(t)
	}
}

func (ws *Watchers) add(t *Session, by string, watch func(*Watcher) error) {
	w := &Watcher{Session: t.ID, By: by, shown: map[string]Shown{}}
	ws.all = append(ws.all, w)
	ws.running.Go(func() {
		err := watch(w)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended, w.over = err, true
	})
}

func (ws *Watchers) bySocket(t *Session) {
	c, ok := ws.clients[t.Owner]
	if !ok {
		token, user := t.Owner.Token, ""
		if t.Owner.Served {
			user = t.Owner.ID
		}
		c = watch.Open(ws.ctx, watch.Config{
			URL:   ws.world.sys.URL,
			Token: rethread.StaticToken(token),
			User:  user,
			HTTP:  &http.Client{},
		})
		ws.clients[t.Owner] = c
	}
	ws.add(t, "websocket", func(w *Watcher) error { return c.Watch(ws.ctx, t.ID, w.take) })
}

func (ws *Watchers) byStream(t *Session) {
	ws.add(t, "server-sent events", func(w *Watcher) error {
		f := &follower{world: ws.world, session: t, state: view.NewState(), show: w.take}
		return f.run(ws.ctx)
	})
}

// take checks what is shown: an ended item must not change, and one in progress
// must only grow.
func (w *Watcher) take(now view.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.view = now
	w.changes++
	for _, item := range now.Items {
		raw, err := json.Marshal(item)
		if err != nil {
			continue
		}
		e, err := fold.Parse(raw)
		if err != nil {
			continue
		}
		text, before := e.Text(), w.shown[item.ID]
		if !strings.HasPrefix(text, before.Text) {
			w.problems = append(w.problems, fmt.Sprintf("%s showed %.80q, then %.80q", item.ID, before.Text, text))
		}
		if ended(before.Status) && item.Status != before.Status {
			w.problems = append(w.problems, fmt.Sprintf("%s was %s, then %s", item.ID, before.Status, item.Status))
		}
		w.shown[item.ID] = Shown{item.Status, text}
	}
}

func ended(s view.EventStatus) bool {
	return s == view.EventCompleted || s == view.EventFailed
}

// Now returns what is shown now, what was ever shown, the problems found, and the
// error that ended the watch.
func (w *Watcher) Now() (now view.Session, shown map[string]Shown, problems []string, over error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown = map[string]Shown{}
	for id, s := range w.shown {
		shown[id] = s
	}
	if w.over && w.ended == nil {
		return w.view, shown, w.problems, errOver
	}
	return w.view, shown, w.problems, w.ended
}

var errOver = errors.New("the session was deleted")

// All returns all current and former watchers.
func (ws *Watchers) All() []*Watcher {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return append([]*Watcher(nil), ws.all...)
}

// Close ends all watchers.
func (ws *Watchers) Close() {
	ws.stop()
	ws.mu.Lock()
	for _, c := range ws.clients {
		c.Close()
	}
	ws.mu.Unlock()
	ws.running.Wait()
}

// reconnect is the pause before a follower opens another stream.
const reconnect = 200 * time.Millisecond
