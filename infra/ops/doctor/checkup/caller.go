package checkup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// Caller is a user of the system.
type Caller struct {
	API     string // base address including the version
	Sockets string
	Token   string
	HTTP    *http.Client
}

// answerError is an answer with an unexpected status.
type answerError struct {
	what   string
	status int
	body   string
}

// shownBytes limits the part of an answer that is shown.
const shownBytes = 300

func (e *answerError) Error() string {
	return fmt.Sprintf("%s is answered %d %s: %.*s", e.what, e.status, http.StatusText(e.status), shownBytes, e.body)
}

// do makes a request and decodes the answer into into, unless that is nil.
func (c Caller) do(ctx context.Context, want int, method, path string, body, into any) error {
	var payload io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		payload = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.API+path, payload)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return err // the error names the request
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if res.StatusCode != want {
		return &answerError{method + " " + path, res.StatusCode, string(answer)}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// socket is a websocket that watches one session.
type socket struct{ conn *websocket.Conn }

// message has the members of a message that are used here.
type message struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Detail    string `json:"detail"`
	Item      struct {
		ID string `json:"id"`
	} `json:"item"`
}

// listen opens a connection and subscribes.
func (c Caller) listen(ctx context.Context, session string) (*socket, error) {
	conn, answer, err := websocket.Dial(ctx, c.Sockets, &websocket.DialOptions{ //nolint:bodyclose // the library reads it whole
		HTTPClient: c.HTTP, HTTPHeader: http.Header{"Authorization": {"Bearer " + c.Token}},
	})
	if err != nil && answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
		return nil, &answerError{what: "connecting to " + c.Sockets, status: answer.StatusCode}
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", c.Sockets, err)
	}
	conn.SetReadLimit(maxAnswerBytes)
	s := &socket{conn}
	const request = "doctor"
	action, err := json.Marshal(object{"action": "subscribe", "session_id": session, "request_id": request})
	if err == nil {
		err = conn.Write(ctx, websocket.MessageText, action)
	}
	if err == nil {
		err = s.until(ctx, "the answer to subscribe", func(m message) bool { return m.RequestID == request })
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// messageTime is how long a message may take, including cold starts.
const messageTime = 30 * time.Second

// until reads messages until found reports true for one.
func (s *socket) until(ctx context.Context, what string, found func(message) bool) error {
	ctx, cancel := context.WithTimeout(ctx, messageTime)
	defer cancel()
	for {
		_, text, err := s.conn.Read(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the websocket did not receive %s in time", what)
		}
		if err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("read a message: %w", err)
		}
		if m.Type == "error" {
			return fmt.Errorf("the websocket returned an error: %s", m.Detail)
		}
		if found(m) {
			return nil
		}
	}
}

func (s *socket) close() { _ = s.conn.CloseNow() } // it may be closed already
