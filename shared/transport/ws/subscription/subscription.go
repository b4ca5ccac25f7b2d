// Package subscription is a client of the WebSocket API from inside: it watches
// one session over one connection, as its caller, so that the fan-out serves
// whoever hears of the session by other ways.
package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws"
)

const (
	// readLimit is more than the WebSocket API ever sends in a message.
	readLimit = 256 << 10
	// requestID names the one action of a connection.
	requestID = "stream"
)

// errGateway is a failure of the gateway's own, which it tells without a type.
var errGateway = errors.New("the WebSocket API failed")

// RefusedError is the error of a subscription that the WebSocket API refuses. Any
// other error means that it could not be asked.
type RefusedError struct{ ws.Answer }

func (r *RefusedError) Error() string {
	return fmt.Sprintf("the WebSocket API refuses: %d %s", r.Status, r.Detail)
}

// EndedError is the error of a subscription that has ended because its caller may
// not watch any longer.
type EndedError struct{ watch.UnsubscribedNotice }

func (e *EndedError) Error() string { return "watching is over: " + string(e.Reason) }

// API is where the WebSocket API is.
type API struct {
	URL    string // ws or wss
	Client *http.Client
	Answer time.Duration // how long it may take to subscribe
}

// Subscription is an open one. It is for one goroutine at a time, but for Ping.
type Subscription struct {
	conn      *websocket.Conn
	sessionID string
	early     []Message // came before the answer
	ended     error     // *EndedError, once it was told
}

// Message is one of a session: what is needed to pass it on, and the whole of it.
type Message struct {
	Type   string       `json:"type"`
	Cursor watch.Cursor `json:"cursor"`
	Prev   watch.Cursor `json:"prev"`
	// Subscription is set in what the subscription is answered with.
	Subscription string `json:"subscription"`
	Status       any    `json:"status"` // a number in what is no message
	Reason       string `json:"reason"`
	Until        *int64 `json:"until"`
	ToSeq        int64  `json:"to_seq"`
	Item         struct {
		Status string `json:"status"`
	} `json:"item"`

	Text []byte `json:"-"`
}

// Open opens a connection with a caller's token and watches the session;
// *RefusedError where the caller may not.
func (a API) Open(ctx context.Context, token, sessionID string, from watch.From) (*Subscription, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Answer)
	defer cancel()
	conn, answer, err := websocket.Dial(ctx, a.URL, &websocket.DialOptions{ //nolint:bodyclose // the library reads it whole
		HTTPClient:   a.Client,
		HTTPHeader:   http.Header{"Authorization": {"Bearer " + token}},
		Subprotocols: []string{ws.Subprotocol},
	})
	if err != nil {
		if answer != nil && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) {
			return nil, &RefusedError{ws.Answer{Status: answer.StatusCode, Detail: "the token was refused"}}
		}
		return nil, fmt.Errorf("dial the WebSocket API: %w", err)
	}
	conn.SetReadLimit(readLimit)
	s := &Subscription{conn: conn, sessionID: sessionID}
	if err := s.subscribe(ctx, from); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends it at once.
func (s *Subscription) Close() { _ = s.conn.CloseNow() } // nobody waits for a farewell

// Ping asks for a sign of life, and keeps the gateway from closing a connection
// that is silent. Another goroutine must be waiting in Next.
func (s *Subscription) Ping(ctx context.Context) error { return s.conn.Ping(ctx) }

// Next waits for the next message about the session; *EndedError where none can
// come any more.
func (s *Subscription) Next(ctx context.Context) (Message, error) {
	if len(s.early) > 0 {
		m := s.early[0]
		s.early = s.early[1:]
		return m, nil
	}
	for s.ended == nil {
		f, err := s.read(ctx)
		if err != nil {
			return Message{}, err
		}
		if f.about(s.sessionID) {
			return f.Message, nil
		}
	}
	return Message{}, s.ended
}

// subscribe sends the action and waits for its answer.
func (s *Subscription) subscribe(ctx context.Context, from watch.From) error {
	text, err := jsonx.Marshal(struct {
		Action     string        `json:"action"`
		RequestID  string        `json:"request_id"`
		SessionID  string        `json:"session_id"`
		Cursor     *watch.Cursor `json:"cursor,omitempty"`
		LastItemID string        `json:"last_item_id,omitempty"`
	}{"subscribe", requestID, s.sessionID, from.Cursor, from.LastItemID})
	if err != nil {
		return fmt.Errorf("encode the subscription: %w", err)
	}
	if err := s.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	for {
		f, err := s.read(ctx)
		if err != nil {
			return fmt.Errorf("wait for the subscription: %w", err)
		}
		switch {
		case f.about(s.sessionID):
			s.early = append(s.early, f.Message)
		case f.RequestID != requestID:
		case f.Type == ws.TypeSubscribed:
			return nil
		case f.Type == ws.TypeError:
			return f.refusal()
		}
	}
}

// frame is a message, or the answer to an action.
type frame struct {
	Message

	RequestID string `json:"request_id"`
	SessionID string `json:"session_id"`
}

func (s *Subscription) read(ctx context.Context) (frame, error) {
	_, text, err := s.conn.Read(ctx)
	if err != nil {
		return frame{}, err
	}
	var f frame
	if err := json.Unmarshal(text, &f); err != nil {
		return frame{}, fmt.Errorf("read a message: %w", err)
	}
	if f.Type == "" {
		return frame{}, fmt.Errorf("%w: %.200s", errGateway, text)
	}
	f.Text = text
	if f.Type == ws.TypeUnsubscribed && f.SessionID == s.sessionID {
		ended := &EndedError{}
		if err := json.Unmarshal(text, &ended.UnsubscribedNotice); err != nil {
			return frame{}, fmt.Errorf("read a farewell: %w", err)
		}
		s.ended = ended
	}
	return f, nil
}

// about reports whether the frame is a message about the session, rather than
// an answer.
func (f frame) about(sessionID string) bool {
	switch watch.Type(f.Type) {
	case watch.Status, watch.Snapshot, watch.DeltaType, watch.ItemCompleted, watch.ItemFailed,
		watch.Rewound, watch.Deleted, watch.Reload:
		return f.SessionID == sessionID
	case watch.Unsubscribed: // which read has seen to
	}
	return false
}

func (f frame) refusal() error {
	refused := &RefusedError{}
	if err := json.Unmarshal(f.Text, &refused.Answer); err != nil {
		return fmt.Errorf("read an error: %w", err)
	}
	return refused
}
