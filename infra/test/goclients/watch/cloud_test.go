package watch_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	rethread "github.com/rethread/rethread/clients/go"
	client "github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/shared/domain/watch"
)

// cloud is a fake server that serves sessions over in-memory connections, as the
// gateways do.
type cloud struct {
	t       *testing.T
	conns   chan net.Conn
	clients *http.Client

	mu       sync.Mutex
	sessions map[string]*hosted
	sockets  map[*websocket.Conn]map[string]bool // and the sessions each watches
	seen     []string                            // the clients' requests
	status   map[string]int                      // responses for sessions to refuse
	deaf     bool                                // does not answer pings
	lose     func(watch.Message) bool            // selects messages to lose
}

// hosted is one session of the cloud.
type hosted struct {
	*model
	sent int
}

var errClosing = errors.New("closed")

func newCloud(t *testing.T, sessions ...string) *cloud {
	t.Helper()
	c := &cloud{
		t: t, conns: make(chan net.Conn), sessions: map[string]*hosted{},
		sockets: map[*websocket.Conn]map[string]bool{}, status: map[string]int{}, lose: func(watch.Message) bool { return false },
	}
	for _, id := range sessions {
		c.sessions[id] = &hosted{model: newModel(0)}
		c.sessions[id].id = id
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case c.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	c.clients = &http.Client{Transport: transport}
	server := &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
	listening := &listener{conns: c.conns, closed: make(chan struct{})}
	served := make(chan struct{})
	go func() {
		_ = server.Serve(listening) // returns an error when closed
		close(served)
	}()
	t.Cleanup(func() {
		c.breakAll()
		_ = server.Close()
		<-served
	})
	return c
}

// open returns a client of the cloud, which is closed at the end of the test.
func (c *cloud) open() *client.Client {
	out := client.Open(c.t.Context(), client.Config{
		URL: "http://cloud", WSURL: "ws://cloud/live", HTTP: c.clients,
		Token: rethread.StaticToken("current"),
	})
	c.t.Cleanup(out.Close)
	return out
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/sessions/"), "/thread")
	if r.URL.Path == "/live" {
		c.serveSocket(w, r)
		return
	}
	c.note("thread " + id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if status := c.status[id]; status != 0 {
		w.WriteHeader(status)
		return
	}
	page, next, _ := c.sessions[id].threadPage(nil, 1<<30, func() {})
	_, _ = w.Write(onWire(page, next))
}

func (c *cloud) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, what)
}

// asked returns the clients' requests since the last call.
func (c *cloud) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.seen
	c.seen = nil
	return out
}

func (c *cloud) serveSocket(w http.ResponseWriter, r *http.Request) {
	c.note("connect")
	if r.URL.Query().Get("token") != "current" {
		c.t.Error("the client connects without the token")
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow() //nolint:errcheck // may be closed already
	c.mu.Lock()
	c.sockets[conn] = map[string]bool{}
	c.mu.Unlock()
	for {
		_, raw, err := conn.Read(context.WithoutCancel(r.Context()))
		if err != nil {
			break
		}
		c.act(conn, raw) //nolint:contextcheck // its answers may outlast the handshake request
	}
	c.mu.Lock()
	delete(c.sockets, conn)
	c.mu.Unlock()
}

func (c *cloud) act(conn *websocket.Conn, raw []byte) {
	var a struct {
		Action    string       `json:"action"`
		SessionID string       `json:"session_id"`
		RequestID string       `json:"request_id"`
		Cursor    watch.Cursor `json:"cursor"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		c.t.Error(err)
	}
	c.note(strings.TrimSpace(a.Action + " " + a.SessionID))
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := map[string]any{"request_id": a.RequestID, "session_id": a.SessionID}
	switch status := c.status[a.SessionID]; {
	case a.Action == "ping" && c.deaf:
		return
	case a.Action == "ping":
		answer["type"] = "pong"
	case a.Action == "unsubscribe":
		answer["type"] = "unsubscribed"
		delete(c.sockets[conn], a.SessionID)
	case status != 0:
		answer["type"], answer["status"], answer["detail"] = "error", status, "refused"
	default:
		answer["type"] = "subscribed"
		c.sockets[conn][a.SessionID] = true
		c.write(conn, mustJSON(answer))
		for _, m := range c.sessions[a.SessionID].since(a.Cursor, func() {}) {
			c.send(conn, a.SessionID, m)
		}
		return
	}
	c.write(conn, mustJSON(answer))
}

func (c *cloud) send(conn *websocket.Conn, id string, m watch.Message) {
	raw, err := watch.Frame(framed(m), id)
	if err != nil {
		c.t.Error(err)
	}
	c.write(conn, raw)
}

func (c *cloud) write(conn *websocket.Conn, raw []byte) {
	_ = conn.Write(c.t.Context(), websocket.MessageText, raw) // the client may have disconnected
}

// do changes a session and notifies its watchers.
func (c *cloud) do(id string, change func(m *model)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	change(s.model)
	for _, r := range s.stream[s.sent:] {
		for _, m := range r.messages {
			for conn, watching := range c.sockets {
				if watching[id] && !c.lose(m) {
					c.send(conn, id, m)
				}
			}
		}
	}
	s.sent = len(s.stream)
}

// breakAll closes all connections.
func (c *cloud) breakAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.sockets {
		go conn.CloseNow() //nolint:errcheck // may be closed already
	}
}

func (c *cloud) connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sockets)
}

func (c *cloud) wantThread(id string, got view.Session) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if want, is := mustText(c.sessions[id].thread()), mustText(shown(got)); want != is {
		c.t.Errorf("the client shows\n%s\nwant\n%s", is, want)
	}
}

// listener accepts in-memory connections.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, errClosing
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "cloud"} }
