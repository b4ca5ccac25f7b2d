package a2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/transport/a2a"
)

const alice = "alice"

// rig is a server over a table of its own. Its messages are sent by a script,
// and the test is the worker.
type rig struct {
	store   *stores.Store
	fanOut  *fakeFanOut
	client  *a2aclient.Client
	clock   *clock
	context string // of all messages
	started chan run.Ref
	renewed chan struct{} // receives after each renewal of a lease
	handler http.Handler
}

// clock is the store's clock, which a test can advance.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func newRig(t *testing.T, carry func(*fakeFanOut, watch.Message)) *rig {
	t.Helper()
	table, ticks := dynamotest.Streamed(t), &clock{}
	store := stores.New(dynamo.New(dynamotest.Client(t), table, store.Schema()), stores.WithClock(ticks.now),
		stores.WithQuotas(quota.Limits{Streams: maxStreams}))
	r := &rig{
		store: store, clock: ticks, context: uuid.NewString(), started: make(chan run.Ref, 1), renewed: make(chan struct{}),
		fanOut: &fakeFanOut{store: store, connections: map[*fakeConnection]bool{}, first: make(chan struct{}), onMessage: carry},
	}
	r.fanOut.publish(t, table, r.context)
	config, own := configOf(store)
	config.StartRun = func(_ context.Context, ref run.Ref) error {
		r.started <- ref
		return nil
	}
	config.Watch, config.Now = r.fanOut.open, ticks.now
	config.Streams, config.StreamTurn = reportingStreams{store.Usage, r.renewed}, checkEvery
	r.handler = a2a.New(config, own)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.handler.ServeHTTP(w, req.WithContext(access.WithCaller(req.Context(), access.Caller{UserID: alice, Token: "token"})))
	}))
	t.Cleanup(server.Close)
	var err error
	r.client, err = a2aclient.NewFactory(a2aclient.WithJSONRPCTransport(server.Client())).CreateFromEndpoints(
		t.Context(), []*lib.AgentInterface{{
			URL: server.URL + "/a2a/helper", ProtocolBinding: lib.TransportProtocolJSONRPC, ProtocolVersion: "1.0",
		}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	// maxWait bounds every wait of a test.
	maxWait = 5 * time.Minute
	// checkEvery is the server's interval for reading followed runs.
	checkEvery = 500 * time.Millisecond
	// maxStreams is a user's limit of open streams.
	maxStreams = 8
)

func (r *rig) message(text string) *lib.SendMessageRequest {
	m := lib.NewMessage(lib.MessageRoleUser, lib.NewTextPart(text))
	m.ContextID = r.context
	return &lib.SendMessageRequest{Message: m}
}

// worker acts as the worker of a run.
type worker struct {
	store *stores.Store
	ref   run.Ref
	item  run.Item
	text  string // of the item
	n     int    // function calls
}

// mustWork waits for a run to be dispatched and begins an item of it.
func (r *rig) mustWork(t *testing.T) *worker {
	t.Helper()
	select {
	case ref := <-r.started:
		w := &worker{store: r.store, ref: ref}
		w.beginItem(t)
		return w
	case <-time.After(maxWait):
		t.Fatal("no run began")
		return nil
	}
}

func (w *worker) beginItem(t *testing.T) {
	t.Helper()
	e := session.Event{Author: "helper", Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"role":"model"}`)}}
	var err error
	if w.item, err = w.store.Runs.BeginItem(t.Context(), w.ref, e); err != nil {
		t.Fatal(err)
	}
}

func (w *worker) write(t *testing.T, text string) {
	t.Helper()
	w.text += text
	if _, err := w.item.Flush(t.Context(), []content.Delta{{Text: text}}); err != nil {
		t.Fatal(err)
	}
}

// completeItem completes the item with the text of its deltas.
func (w *worker) completeItem(t *testing.T) {
	t.Helper()
	if _, err := w.item.Complete(t.Context(), agentEvent(fmt.Sprintf(`{"text":%q}`, w.text))); err != nil {
		t.Fatal(err)
	}
	w.text = ""
}

func (w *worker) endRun(t *testing.T, status run.Status, problem *run.Problem) {
	t.Helper()
	if _, err := w.store.Runs.End(t.Context(), w.ref, status, problem); err != nil {
		t.Fatal(err)
	}
}

// listener records a stream.
type listener struct {
	mu      sync.Mutex
	first   *lib.Task
	last    lib.TaskState
	parts   map[lib.ArtifactID]string
	order   []lib.ArtifactID
	closing map[lib.ArtifactID]*lib.TaskArtifactUpdateEvent // the last update of each
	err     error
	changed chan struct{} // closed at the next change
	over    chan struct{}
}

func (l *listener) receive(event lib.Event, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() {
		close(l.changed)
		l.changed = make(chan struct{})
	}()
	l.err = err
	switch e := event.(type) {
	case *lib.Task:
		l.first, l.last = e, e.Status.State
		for _, a := range e.Artifacts {
			l.add(a, false)
		}
	case *lib.TaskArtifactUpdateEvent:
		l.add(e.Artifact, e.Append)
		if e.LastChunk {
			l.closing[e.Artifact.ID] = e
		}
	case *lib.TaskStatusUpdateEvent:
		l.last = e.Status.State
	}
}

func (l *listener) add(a *lib.Artifact, appends bool) {
	if _, known := l.parts[a.ID]; !known {
		l.order = append(l.order, a.ID)
	}
	if !appends {
		l.parts[a.ID] = ""
	}
	for _, p := range a.Parts {
		l.parts[a.ID] += p.Text()
	}
}

// text returns the text that a reader of the stream has assembled.
func (l *listener) text() string {
	var out strings.Builder
	for _, id := range l.order {
		out.WriteString(l.parts[id])
	}
	return out.String()
}

// untilText waits until the stream has sent exactly this text.
func (l *listener) untilText(t *testing.T, text string) {
	t.Helper()
	l.await(t, "the text "+text, func() bool { return l.first != nil && l.text() == text })
}

func (l *listener) untilState(t *testing.T, state lib.TaskState) {
	t.Helper()
	l.await(t, "the state "+string(state), func() bool { return l.last == state })
}

func (l *listener) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	timeout := time.NewTimer(maxWait)
	defer timeout.Stop()
	for {
		l.mu.Lock()
		changed, found, text := l.changed, is(), l.text()
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-l.over:
			if !is() { // the last event may be the expected one
				t.Fatalf("the stream ended before %s: %q, %v", what, l.text(), l.err)
			}
			return
		case <-timeout.C:
			t.Fatalf("timed out waiting for %s; got %q", what, text)
		}
	}
}

// end waits for the stream's end and returns the last state that it sent.
func (l *listener) end(t *testing.T) lib.TaskState {
	t.Helper()
	select {
	case <-l.over:
	case <-time.After(maxWait):
		t.Fatal("the stream does not end")
	}
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.last
}
