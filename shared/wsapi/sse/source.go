package sse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/coder/websocket"

	"github.com/rethread/rethread/shared/plainjson"
	"github.com/rethread/rethread/shared/watch"
	"github.com/rethread/rethread/shared/wsapi"
)

const (
	// readLimit is more than the WebSocket API ever sends in a message.
	readLimit = 256 << 10
	// requestID names the one action of a connection.
	requestID = "stream"
)

// source is an open subscription: what came before the answer, then what the
// connection brings.
type source struct {
	conn  *websocket.Conn
	early []frame
}

func (s *source) close() { _ = s.conn.CloseNow() } // nobody waits for a farewell

// subscription is the action that opens a source.
type subscription struct {
	Action     string        `json:"action"`
	RequestID  string        `json:"request_id"`
	SessionID  string        `json:"session_id"`
	Cursor     *watch.Cursor `json:"cursor,omitempty"`
	LastItemID string        `json:"last_item_id,omitempty"`
}

// subscribe opens a connection with the caller's token and watches the session.
func (c Config) subscribe(ctx context.Context, req request, from watch.From) (*source, *problem) {
	ctx, cancel := context.WithTimeout(ctx, c.Answer)
	defer cancel()
	conn, answer, err := websocket.Dial(ctx, c.URL, &websocket.DialOptions{ //nolint:bodyclose // the library reads it whole
		HTTPClient:   c.Client,
		HTTPHeader:   http.Header{"Authorization": {"Bearer " + req.token}},
		Subprotocols: []string{wsapi.Subprotocol},
	})
	if err != nil {
		if answer != nil && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) {
			return nil, newProblem(answer.StatusCode, "the token was refused")
		}
		return nil, unavailable(fmt.Errorf("dial the WebSocket API: %w", err))
	}
	conn.SetReadLimit(readLimit)
	s := &source{conn: conn}
	refusal := s.subscribe(ctx, subscription{
		Action: "subscribe", RequestID: requestID, SessionID: req.sessionID, Cursor: from.Cursor, LastItemID: from.LastItemID,
	})
	if refusal != nil {
		s.close()
		return nil, refusal
	}
	return s, nil
}

// subscribe sends the action and waits for its answer.
func (s *source) subscribe(ctx context.Context, action subscription) *problem {
	text, err := plainjson.Marshal(action)
	if err != nil {
		return unavailable(fmt.Errorf("encode the subscription: %w", err))
	}
	if err := s.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return unavailable(fmt.Errorf("subscribe: %w", err))
	}
	for {
		f, err := s.read(ctx)
		if err != nil {
			return unavailable(fmt.Errorf("wait for the subscription: %w", err))
		}
		switch {
		case f.about(action.SessionID):
			s.early = append(s.early, f)
		case f.RequestID != requestID:
		case f.Type == wsapi.TypeSubscribed:
			return nil
		case f.Type == wsapi.TypeError:
			return f.problem()
		}
	}
}

// errGateway is a failure of the gateway's own, which it tells without a type.
var errGateway = errors.New("the WebSocket API failed")

// frame is a message of the WebSocket API: what is needed to pass it on, and
// the whole of it.
type frame struct {
	Type      string       `json:"type"`
	RequestID string       `json:"request_id"`
	SessionID string       `json:"session_id"`
	Cursor    watch.Cursor `json:"cursor"`
	Prev      watch.Cursor `json:"prev"`
	Item      struct {
		Status string `json:"status"`
	} `json:"item"`

	text []byte
}

func (s *source) read(ctx context.Context) (frame, error) {
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

// about reports whether the frame is a message about the session, rather than
// an answer.
func (f frame) about(sessionID string) bool {
	switch watch.Type(f.Type) {
	case watch.Status, watch.Snapshot, watch.DeltaType, watch.ItemCompleted, watch.ItemFailed,
		watch.Rewound, watch.Deleted, watch.Reload:
		return f.SessionID == sessionID
	}
	return false
}

func (f frame) problem() *problem {
	var answer wsapi.Answer
	if err := json.Unmarshal(f.text, &answer); err != nil {
		return unavailable(fmt.Errorf("read an error: %w", err))
	}
	return problemAnswered(answer)
}
