package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/rethread/rethread/shared/plainjson"
	"github.com/rethread/rethread/shared/watch"
	"github.com/rethread/rethread/shared/watch/client"
)

const (
	subprotocol = "rethread.v1"
	// readLimit is more than the WebSocket API ever sends in a message.
	readLimit = 256 << 10
	// subscribeTime is how long the WebSocket API may take to subscribe.
	subscribeTime = 10 * time.Second
)

// NewsFunc watches a session from a position on, with a caller's token.
type NewsFunc func(ctx context.Context, token, sessionID string, from watch.Cursor) (News, error)

// News is what happens in a session. It is for one goroutine at a time.
type News interface {
	// Next waits for the next message.
	Next(ctx context.Context) (watch.Message, error)
	Close()
}

var (
	errRefused = errors.New("the WebSocket API refuses")
	errGateway = errors.New("the WebSocket API failed")
)

// Socket has the news of the WebSocket API at an address, ws or wss: the same
// fan-out serves everybody who watches.
func Socket(url string, httpClient *http.Client) NewsFunc {
	return func(ctx context.Context, token, sessionID string, from watch.Cursor) (News, error) {
		ctx, cancel := context.WithTimeout(ctx, subscribeTime)
		defer cancel()
		conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{ //nolint:bodyclose // the library reads it whole
			HTTPClient: httpClient, Subprotocols: []string{subprotocol},
			HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
		})
		if err != nil {
			return nil, fmt.Errorf("dial the WebSocket API: %w", err)
		}
		conn.SetReadLimit(readLimit)
		s := &socket{conn: conn, sessionID: sessionID}
		if err := s.subscribe(ctx, from); err != nil {
			s.Close()
			return nil, err
		}
		return s, nil
	}
}

type socket struct {
	conn      *websocket.Conn
	sessionID string
	early     []watch.Message // came before the answer to the subscription
}

// Close implements News.
func (s *socket) Close() { _ = s.conn.CloseNow() } // nobody waits for a farewell

func (s *socket) subscribe(ctx context.Context, from watch.Cursor) error {
	text, err := plainjson.Marshal(map[string]any{
		"action": "subscribe", "request_id": "a2a", "session_id": s.sessionID, "cursor": from,
	})
	if err != nil {
		return fmt.Errorf("encode the subscription: %w", err)
	}
	if err := s.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	for {
		f, err := s.read(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("wait for the subscription: %w", err)
		case f.about(s.sessionID):
			m, err := client.ParseMessage(f.text)
			if err != nil {
				return err
			}
			s.early = append(s.early, m)
		case f.Type == "subscribed":
			return nil
		case f.Type == "error":
			return fmt.Errorf("%w: %.200s", errRefused, f.text)
		}
	}
}

// Next implements News.
func (s *socket) Next(ctx context.Context) (watch.Message, error) {
	if len(s.early) > 0 {
		m := s.early[0]
		s.early = s.early[1:]
		return m, nil
	}
	for {
		f, err := s.read(ctx)
		if err != nil {
			return watch.Message{}, err
		}
		if f.about(s.sessionID) {
			return client.ParseMessage(f.text)
		}
	}
}

// frame is what tells a message about a session from an answer.
type frame struct {
	Type      string        `json:"type"`
	SessionID string        `json:"session_id"`
	Cursor    *watch.Cursor `json:"cursor"`

	text []byte
}

func (f frame) about(sessionID string) bool { return f.SessionID == sessionID && f.Cursor != nil }

func (s *socket) read(ctx context.Context) (frame, error) {
	_, text, err := s.conn.Read(ctx)
	if err != nil {
		return frame{}, err
	}
	f := frame{text: text}
	if err := json.Unmarshal(text, &f); err != nil {
		return frame{}, fmt.Errorf("read a message: %w", err)
	}
	if f.Type == "" {
		return frame{}, fmt.Errorf("%w: %.200s", errGateway, text)
	}
	return f, nil
}
