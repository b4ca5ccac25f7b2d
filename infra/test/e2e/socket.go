package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Patience is how long tests wait for expected events. It is far more than the busiest
// machine needs, and only elapses if something is wrong.
const Patience = 5 * time.Minute

// frameLimit is above the size of any message of the gateway.
const frameLimit = 256 << 10

// Socket is a connection to the WebSocket API. A violation of the contract fails
// the test.
type Socket struct {
	Subprotocol string // chosen by the system
	tb          testing.TB
	messages    *contract.Messages
	conn        *websocket.Conn
}

// Dial opens a connection with the query parameters, headers and subprotocols of a
// handshake. If the system refuses it, status is the response's.
func (s *System) Dial(
	tb testing.TB, query url.Values, header http.Header, subprotocols ...string,
) (socket *Socket, status int) {
	tb.Helper()
	conn, status, err := dial(tb.Context(), s.WebSocketURL, query, &websocket.DialOptions{
		HTTPHeader: header, Subprotocols: subprotocols,
	})
	if err != nil {
		if status == 0 || status == http.StatusSwitchingProtocols {
			tb.Fatal(err)
		}
		return nil, status
	}
	tb.Cleanup(func() { _ = conn.CloseNow() }) // it may be closed already
	return &Socket{Subprotocol: conn.Subprotocol(), tb: tb, messages: s.messages, conn: conn}, status
}

func dial(
	ctx context.Context, address string, query url.Values, opts *websocket.DialOptions,
) (conn *websocket.Conn, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	conn, answer, err := websocket.Dial(ctx, address+"/?"+query.Encode(), opts) //nolint:bodyclose // the library reads it whole
	if answer != nil {
		status = answer.StatusCode
	}
	if err != nil {
		return nil, status, fmt.Errorf("open a websocket: %w", err)
	}
	conn.SetReadLimit(frameLimit)
	return conn, status, nil
}

// Socket opens a connection as the user.
func (u *User) Socket() *Socket {
	u.tb.Helper()
	socket, status := u.system.Dial(u.tb, url.Values{"token": {u.Token}}, nil)
	if socket == nil {
		u.tb.Fatalf("the handshake is answered %d", status)
	}
	return socket
}

// Send sends an action, which must conform to the contract.
func (k *Socket) Send(action M) {
	k.tb.Helper()
	text, err := json.Marshal(action)
	if err != nil {
		k.tb.Fatal(err)
	}
	if err := k.messages.Check(text); err != nil {
		k.tb.Error(err)
	}
	k.SendRaw(websocket.MessageText, text)
}

// SendRaw sends any message.
func (k *Socket) SendRaw(kind websocket.MessageType, data []byte) {
	k.tb.Helper()
	ctx, cancel := context.WithTimeout(k.tb.Context(), Patience)
	defer cancel()
	if err := k.conn.Write(ctx, kind, data); err != nil {
		k.tb.Fatal(err)
	}
}

// Next returns the next message.
func (k *Socket) Next() Frame {
	k.tb.Helper()
	text, err := k.read()
	if err != nil {
		k.tb.Fatal(err)
	}
	f, err := readFrame(k.messages, text)
	if err != nil {
		k.tb.Error(err)
	}
	return f
}

// Answer returns the next message that answers a request; messages about sessions
// before it are dropped.
func (k *Socket) Answer(requestID string) Frame {
	k.tb.Helper()
	return k.Until(func(f Frame) bool { return f.RequestID == requestID })
}

// Until returns the next message for which found is true; others are dropped.
func (k *Socket) Until(found func(Frame) bool) Frame {
	k.tb.Helper()
	for {
		if f := k.Next(); found(f) {
			return f
		}
	}
}

// Closed waits for the end of the connection, and returns the system's close code.
func (k *Socket) Closed() websocket.StatusCode {
	k.tb.Helper()
	for {
		if _, err := k.read(); err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) {
				k.tb.Fatal(err)
			}
			return closed.Code
		}
	}
}

func (k *Socket) read() ([]byte, error) {
	ctx, cancel := context.WithTimeout(k.tb.Context(), Patience)
	defer cancel()
	_, text, err := k.conn.Read(ctx)
	return text, err
}

// Sockets is the Transport of the WebSocket API.
func Sockets(ctx context.Context, u *User, session string, from *watch.Cursor) (Stream, error) {
	conn, _, err := dial(ctx, u.system.WebSocketURL, url.Values{"token": {u.Token}}, nil)
	if err != nil {
		return nil, err
	}
	action := M{"action": "subscribe", "session_id": session, "request_id": "follow"}
	if from != nil {
		action["cursor"] = from
	}
	text, err := json.Marshal(action)
	if err == nil {
		err = conn.Write(ctx, websocket.MessageText, text)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("subscribe: %w", err), conn.CloseNow())
	}
	return socketStream{conn}, nil
}

type socketStream struct{ conn *websocket.Conn }

func (s socketStream) Next(ctx context.Context) ([]byte, error) {
	_, text, err := s.conn.Read(ctx)
	return text, err
}

func (s socketStream) Close() { _ = s.conn.CloseNow() } // it may be closed already
