package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// line is one connection.
type line struct {
	c    *Client
	conn *websocket.Conn
	out  chan action
	done chan struct{} // closed when it has ended
	end  context.CancelFunc
	pong chan struct{}
}

// action is what a client sends.
type action struct {
	Action    string `json:"action"`
	RequestID string `json:"request_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
}

// stayConnected keeps a line. One that grows old is left when its successor is
// there, so that nothing falls in between.
func (c *Client) stayConnected(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		fresh, err := c.dial(ctx)
		if err != nil {
			c.Log.InfoContext(ctx, "no connection", "error", err)
			if sleep(ctx, backoff(failures)) != nil {
				return
			}
			failures++
			continue
		}
		if old := c.adopt(fresh); old != nil {
			c.running.Go(func() { old.retire(ctx) })
		}
		began := time.Now()
		select {
		case <-fresh.done:
		case <-time.After(renewAfter - backoff(8)):
		case <-ctx.Done():
			<-fresh.done
			return
		}
		if failures++; time.Since(began) > time.Minute {
			failures = 0
		}
		if sleep(ctx, backoff(failures)) != nil {
			return
		}
	}
}

// adopt makes a line the one that sessions subscribe on.
func (c *Client) adopt(fresh *line) (old *line) {
	c.mu.Lock()
	old, c.line = c.line, fresh
	c.mu.Unlock()
	for _, w := range c.all() {
		w.notify()
	}
	return old
}

// dropped forgets a line that has ended.
func (c *Client) dropped(l *line) {
	c.mu.Lock()
	if c.line == l {
		c.line = nil
	}
	c.mu.Unlock()
	for _, w := range c.all() {
		w.lost(l)
	}
}

func (c *Client) dial(ctx context.Context) (*line, error) {
	dialing, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	token, err := c.Token(dialing)
	if err != nil {
		return nil, fmt.Errorf("get a token: %w", err)
	}
	at, err := url.Parse(c.WSURL)
	if err != nil {
		return nil, fmt.Errorf("the address of the WebSocket API: %w", err)
	}
	query := at.Query()
	query.Set("token", token)
	at.RawQuery = query.Encode()
	conn, resp, err := websocket.Dial(dialing, at.String(), &websocket.DialOptions{HTTPClient: c.HTTP}) //nolint:bodyclose // Dial closes it
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			return nil, fmt.Errorf("connect: %s", resp.Status) // the error has the address, and so the token
		}
		return nil, fmt.Errorf("connect: %w", withoutAddress(err))
	}
	conn.SetReadLimit(maxFrame)
	living, end := context.WithCancel(ctx)
	l := &line{
		c: c, conn: conn, end: end,
		out: make(chan action, 256), done: make(chan struct{}), pong: make(chan struct{}, 1),
	}
	c.running.Go(func() { l.run(living) })
	return l, nil
}

// run reads, writes and pings until the line ends.
func (l *line) run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { l.write(ctx) })
	both.Go(func() { l.ping(ctx) })
	for {
		kind, frame, err := l.conn.Read(ctx)
		if err != nil {
			break
		}
		if kind == websocket.MessageText {
			l.received(ctx, frame)
		}
	}
	l.end()
	_ = l.conn.CloseNow() // it has ended, or is of no use
	both.Wait()
	l.c.dropped(l)
	close(l.done)
}

// send sends soon. A line that takes no more is broken.
func (l *line) send(a action) {
	select {
	case l.out <- a:
	default:
		l.end()
	}
}

func (l *line) write(ctx context.Context) {
	for {
		select {
		case a := <-l.out:
			if err := l.post(ctx, a); err != nil {
				l.end()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (l *line) post(ctx context.Context, a action) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	frame, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode an action: %w", err)
	}
	return l.conn.Write(ctx, websocket.MessageText, frame)
}

// ping keeps the line, and finds out when it is dead.
func (l *line) ping(ctx context.Context) {
	for sleep(ctx, pingEvery) == nil {
		l.send(action{Action: "ping"})
		select {
		case <-l.pong:
		case <-time.After(answerWithin):
			l.end()
		case <-ctx.Done():
		}
	}
}

// retire ends a line some time after another took its place.
func (l *line) retire(ctx context.Context) {
	select {
	case <-l.done:
	case <-time.After(lingerFor):
		l.end()
	case <-ctx.Done():
	}
}

// tokenExpired is the reason of a message that ends watching because the token
// has ended that opened the connection.
const tokenExpired = "token_expired"

// head is what all frames have in common.
type head struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id"`
	RequestID string `json:"request_id"`
}

// received handles a frame: an answer to an action, or a message about a session.
func (l *line) received(ctx context.Context, frame []byte) {
	var h head
	if err := json.Unmarshal(frame, &h); err != nil || h.Type == "" {
		l.c.Log.WarnContext(ctx, "the gateway sends what is no message", "frame", string(frame[:min(len(frame), 500)]))
		return
	}
	switch h.Type {
	case "pong":
		select {
		case l.pong <- struct{}{}:
		default:
		}
	case "unsubscribed":
		l.ended(ctx, h, frame)
	case "error":
		l.failed(ctx, h, frame)
	default:
		if w := l.c.watched(h.SessionID); w != nil {
			l.bring(ctx, w, h, frame)
		}
	}
}

func (l *line) bring(ctx context.Context, w *watched, h head, frame []byte) {
	if h.Type == "subscribed" {
		w.answered(h.RequestID, nil)
		return
	}
	m, err := view.ParseMessage(frame)
	if err != nil {
		l.c.Log.WarnContext(ctx, "a message cannot be read", "session_id", w.id, "error", err)
		w.missed()
		return
	}
	w.apply(m)
}

// ended handles that a session may not be watched any longer, for which there is
// a reason: an answer has none. To ask once more says whether that is final. A
// token that has ended needs another line.
func (l *line) ended(ctx context.Context, h head, frame []byte) {
	var f struct {
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(frame, &f); err != nil || f.Reason == "" {
		return
	}
	l.c.Log.InfoContext(ctx, "watching is over", "session_id", h.SessionID, "reason", f.Reason)
	if f.Reason == tokenExpired {
		l.end()
		return
	}
	if w := l.c.watched(h.SessionID); w != nil {
		w.unseated(l)
	}
}

// failed handles an action that failed.
func (l *line) failed(ctx context.Context, h head, frame []byte) {
	var problem struct {
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(frame, &problem); err != nil {
		l.c.Log.WarnContext(ctx, "an error cannot be read", "error", err)
		return
	}
	l.c.Log.InfoContext(ctx, "an action failed",
		"session_id", h.SessionID, "status", problem.Status, "detail", problem.Detail)
	if problem.Status == http.StatusUnauthorized {
		l.end() // the token has expired
		return
	}
	if w := l.c.watched(h.SessionID); w != nil {
		w.answered(h.RequestID, errorOf(problem.Status, problem.Detail))
	}
}
