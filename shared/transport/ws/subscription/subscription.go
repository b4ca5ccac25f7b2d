// Package subscription is the product's own client of the WebSocket API: it
// watches one session over one connection with the caller's token, so that the
// same fan-out serves callers of other transports. It is apart from package ws, the server,
// which those transports do not link.
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
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws"
)

const (
	// readLimit is above the size of any message of the WebSocket API, in
	// bytes.
	readLimit = 256 << 10
	// requestID is the request id of a connection's only action.
	requestID = "stream"
)

// errGateway is a failure of the gateway itself, whose message has no type.
var errGateway = errors.New("the WebSocket API failed")

// RefusedError reports a subscription that the WebSocket API refuses. Any other
// error of Open means that the API could not be reached.
type RefusedError struct{ ws.Answer }

func (r *RefusedError) Error() string {
	return fmt.Sprintf("the WebSocket API refuses: %d %s", r.Status, r.Detail)
}

// EndedError reports a subscription that has ended because its caller may not
// watch any longer.
type EndedError struct{ watch.UnsubscribedNotice }

func (e *EndedError) Error() string { return "the subscription has ended: " + string(e.Reason) }

// API is the address of the WebSocket API and how to reach it.
type API struct {
	URL    string // ws or wss
	Client *http.Client
	Answer time.Duration // bounds a subscription
}

// Subscription is an open subscription. Only Ping may be called concurrently
// with another method.
type Subscription struct {
	conn      *websocket.Conn
	sessionID string
	buffered  []Message // messages that arrived before the answer
	ended     error     // *EndedError, once received
}

// Message is a message about a session: the members needed to forward it, and
// the whole text.
type Message struct {
	Type   string       `json:"type"`
	Cursor watch.Cursor `json:"cursor"`
	Prev   watch.Cursor `json:"prev"`
	// Subscription is set in messages of the replay that answers the
	// subscription.
	Subscription string `json:"subscription"`
	Status       any    `json:"status"` // a number in error frames
	Reason       string `json:"reason"`
	Until        *int64 `json:"until"`
	ToSeq        int64  `json:"to_seq"`
	QueueVersion int64  `json:"queue_version"`
	Item         struct {
		Status string `json:"status"`
	} `json:"item"`

	Text []byte `json:"-"`
}

// Open opens a connection for a caller, with its token, and watches the session. It
// returns *RefusedError if the caller may not.
func (a API) Open(ctx context.Context, caller access.Caller, sessionID string, from watch.From) (*Subscription, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Answer)
	defer cancel()
	header := http.Header{"Authorization": {"Bearer " + caller.Token}}
	if user := caller.Named(); user != "" {
		header.Set(access.UserHeader, user)
	}
	conn, answer, err := websocket.Dial(ctx, a.URL, &websocket.DialOptions{ //nolint:bodyclose // the library reads it whole
		HTTPClient:   a.Client,
		HTTPHeader:   header,
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

// Close closes the connection without a closing handshake.
func (s *Subscription) Close() { _ = s.conn.CloseNow() } // the peer may have closed it

// Ping waits for a pong, and keeps the gateway from closing an idle connection.
// Another goroutine must be waiting in Next.
func (s *Subscription) Ping(ctx context.Context) error { return s.conn.Ping(ctx) }

// Next waits for the next message about the session. It returns *EndedError
// once the subscription has ended.
func (s *Subscription) Next(ctx context.Context) (Message, error) {
	if len(s.buffered) > 0 {
		m := s.buffered[0]
		s.buffered = s.buffered[1:]
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
			s.buffered = append(s.buffered, f.Message)
		case f.RequestID != requestID:
		case f.Type == ws.TypeSubscribed:
			return nil
		case f.Type == ws.TypeError:
			return f.refusal()
		}
	}
}

// frame is a message about a session or the answer to an action.
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
			return frame{}, fmt.Errorf("read an unsubscribed notice: %w", err)
		}
		s.ended = ended
	}
	return f, nil
}

// about reports whether the frame is a message about the session rather than an answer.
// A type that this version does not know is a message too: a stream that was opened
// before a deployment receives messages of the new version.
func (f frame) about(sessionID string) bool {
	switch f.Type {
	case ws.TypeError, ws.TypeSubscribed, ws.TypeUnsubscribed, ws.TypePong:
		return false
	}
	return f.SessionID == sessionID && f.RequestID == ""
}

func (f frame) refusal() error {
	refused := &RefusedError{}
	if err := json.Unmarshal(f.Text, &refused.Answer); err != nil {
		return fmt.Errorf("read an error: %w", err)
	}
	return refused
}
