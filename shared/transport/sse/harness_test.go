package sse_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/coder/websocket"

	"github.com/rethread/rethread/shared/transport/sse"
)

// session is one connection to the WebSocket API, whose messages a test sends.
type session struct {
	t      *testing.T
	ctx    context.Context
	conn   *websocket.Conn
	number int64 // of the connection, from 1
	action string
	pings  <-chan struct{}

	answering bool // messages belong to the subscription's replay
}

func (s *session) send(format string, args ...any) {
	if err := s.conn.Write(s.ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil && s.ctx.Err() == nil {
		s.t.Log("the connection was closed:", err)
	}
}

// subscribed accepts the subscription and begins its replay.
func (s *session) subscribed() {
	s.answering = true
	s.send(`{"type":"subscribed","request_id":"stream","session_id":"s1"}`)
}

// endReplay ends the replay with the session's status; live messages follow.
func (s *session) endReplay(cursor, status string) {
	s.send(`{"type":"thread.status","session_id":"s1","cursor":%q,"prev":%q,"status":%q%s}`, cursor, cursor, status, s.mark())
	s.answering = false
}

// mark returns the member that only replayed messages have.
func (s *session) mark() string {
	if s.answering {
		return `,"subscription":"stream"`
	}
	return ""
}

// item sends an item at a position, after prev.
func (s *session) item(cursor, prev, status string) {
	s.send(`{"type":"item.snapshot","session_id":"s1","cursor":%q,"prev":%q,"item":{"status":%q},"offset":0%s}`,
		cursor, prev, status, s.mark())
}

// message sends a message of any type with positions only.
func (s *session) message(kind, cursor, prev string) {
	s.send(`{"type":%q,"session_id":"s1","cursor":%q,"prev":%q,"to_seq":3%s}`, kind, cursor, prev, s.mark())
}

// untilClosed waits for the peer to close the connection.
func (s *session) untilClosed() {
	for {
		if _, _, err := s.conn.Read(s.ctx); err != nil {
			return
		}
	}
}

// bubble runs a test in a time of its own, which passes only while everything waits.
func bubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// pipes is a listener in memory: the time of a bubble stands still while a connection
// of the machine is read.
type pipes chan net.Conn

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

// Addr implements net.Listener.
func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// Close implements net.Listener.
func (p pipes) Close() error { close(p); return nil }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours, nil
}

// serve starts a server at any address of the client that it returns, until the end of
// the test.
func serve(t *testing.T, handler http.Handler) *http.Client {
	t.Helper()
	listener := make(pipes)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Hour}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	transport := &http.Transport{DialContext: listener.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return &http.Client{Transport: transport}
}

// newAPI starts a WebSocket API whose connections play serves. It stops at the
// end of the test, when every connection must be closed.
func newAPI(t *testing.T, play func(*session)) sse.Config {
	t.Helper()
	return newAPIWithItems(t, play, http.NotFoundHandler())
}

// newAPIWithItems is like newAPI, with an HTTP API that has items.
func newAPIWithItems(t *testing.T, play func(*session), items http.Handler) sse.Config {
	t.Helper()
	var opened atomic.Int64
	mux := http.NewServeMux()
	mux.Handle("/api/v1/sessions/", http.StripPrefix("/api/v1", items))
	mux.HandleFunc("/live", func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			http.Error(rw, "no", http.StatusUnauthorized)
			return
		}
		pings := make(chan struct{}, 1)
		conn, err := websocket.Accept(rw, r, &websocket.AcceptOptions{
			Subprotocols: []string{"rethread.v1"},
			OnPingReceived: func(context.Context, []byte) bool {
				select {
				case pings <- struct{}{}:
				default:
				}
				return true
			},
		})
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow() //nolint:errcheck // closed already is fine
		_, action, err := conn.Read(r.Context())
		if err != nil {
			t.Error(err)
			return
		}
		play(&session{t: t, ctx: r.Context(), conn: conn, number: opened.Add(1), action: string(action), pings: pings})
	})
	return sse.Config{
		URL: "ws://api.example/live", Client: serve(t, mux), AllowedOrigin: "*",
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Heartbeat: time.Hour, Keepalive: time.Hour, Answer: 5 * time.Second, Margin: time.Second, Retry: time.Millisecond,
	}
}

func newEvent() events.APIGatewayProxyRequest {
	return events.APIGatewayProxyRequest{
		PathParameters: map[string]string{"session_id": "s1"},
		StageVariables: map[string]string{"HttpUrl": "http://api.example"},
		Headers:        map[string]string{"authorization": "Bearer good"},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID:  "r1",
			Authorizer: map[string]any{"sub": "alice", "exp": fmt.Sprint(time.Now().Add(time.Hour).Unix())},
		},
	}
}

// answer is what Lambda gets.
type answer struct {
	t       *testing.T
	Status  int               `json:"statusCode"`
	Headers map[string]string `json:"headers"`
	raw     *events.APIGatewayProxyStreamingResponse
	body    *bufio.Reader
}

// open opens a stream, which is closed at the end of the test.
func open(t *testing.T, c sse.Config, event events.APIGatewayProxyRequest) *answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return openWith(ctx, t, c, event)
}

func openWith(ctx context.Context, t *testing.T, c sse.Config, event events.APIGatewayProxyRequest) *answer {
	t.Helper()
	raw, err := sse.New(c)(ctx, event)
	if err != nil {
		t.Fatal(err)
	}
	a := &answer{t: t, raw: raw, body: bufio.NewReader(raw)}
	t.Cleanup(func() { _ = raw.Close() })
	head, err := a.body.ReadBytes(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(bytes.TrimSuffix(head, []byte{0}), a); err != nil {
		t.Fatal(err)
	}
	if _, err := a.body.Discard(7); err != nil {
		t.Fatal(err)
	}
	return a
}

// next returns the next event or comment, "" at the end.
func (a *answer) next() string {
	a.t.Helper()
	var out []string
	for {
		line, err := a.body.ReadString('\n')
		if err == io.EOF && line == "" && len(out) == 0 {
			return ""
		}
		if err != nil {
			a.t.Fatalf("after %q: %v", out, err)
		}
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			return strings.Join(out, "\n")
		}
		out = append(out, line)
	}
}

// ids reads n events and returns their ids, "-" for a missing one.
func (a *answer) ids(n int) []string {
	a.t.Helper()
	out := make([]string, 0, n)
	for range n {
		first, _, _ := strings.Cut(a.next(), "\n")
		id, ok := strings.CutPrefix(first, "id: ")
		if !ok {
			id = "-"
		}
		out = append(out, id)
	}
	return out
}

// all reads to the end and returns the id and the cursor of each event.
func (a *answer) all() []string {
	a.t.Helper()
	var out []string
	a.next()
	for text := a.next(); text != ""; text = a.next() {
		head, data, _ := strings.Cut(text, "\ndata: ")
		id, _, _ := strings.Cut(strings.TrimPrefix(head, "id: "), "\n")
		var m struct{ Cursor string }
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			a.t.Fatalf("%q: %v", text, err)
		}
		out = append(out, id+" "+m.Cursor)
	}
	return out
}

func (a *answer) rest() string {
	a.t.Helper()
	text, err := io.ReadAll(a.body)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(text)
}

// unreachable is a network without the API.
type unreachable struct{}

// RoundTrip implements http.RoundTripper.
func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("connection refused")
}
