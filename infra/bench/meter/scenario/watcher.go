package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/rethread/rethread/shared/base/retry"
)

// frameLimit is the largest frame of the WebSocket API, in bytes.
const frameLimit = 128 << 10

// watcher is a connection that watches the session.
type watcher struct {
	conn  *websocket.Conn
	count atomic.Int64 // frames sent and received
	bytes atomic.Int64 // received
	ready chan error   // of the subscription
	ended chan struct{}
}

// watch connects and subscribes; it returns once the subscription is active.
func (t *trial) watch(ctx context.Context) (*watcher, error) {
	conn, res, err := websocket.Dial(ctx, t.WebSocketURL+"?token="+url.QueryEscape(t.client.token), nil)
	if res != nil && res.Body != nil {
		_ = res.Body.Close() // of a refused connection
	}
	if err != nil {
		return nil, fmt.Errorf("connect a watcher: %w", err)
	}
	conn.SetReadLimit(frameLimit)
	w := &watcher{conn: conn, ready: make(chan error, 1), ended: make(chan struct{})}
	go w.read(ctx)
	err = w.send(ctx, object{"action": "subscribe", "session_id": path.Base(t.session)})
	if err == nil {
		err = <-w.ready
	}
	if err != nil {
		_ = conn.CloseNow() // the other error is the reason
		return nil, fmt.Errorf("subscribe a watcher: %w", err)
	}
	return w, nil
}

// read counts frames until the connection is closed.
func (w *watcher) read(ctx context.Context) {
	defer close(w.ended)
	subscribed := false
	for {
		_, data, err := w.conn.Read(ctx)
		var frame struct {
			Type   string `json:"type"`
			Detail string `json:"detail"`
		}
		if err == nil {
			err = json.Unmarshal(data, &frame)
		}
		if err == nil && frame.Type == "error" {
			err = fmt.Errorf("%w: %s", errUnexpected, frame.Detail)
		}
		if !subscribed && (err != nil || frame.Type == "thread.status") { // the last of the initial messages
			subscribed = true
			w.ready <- err
		}
		if err != nil {
			return
		}
		w.count.Add(1)
		w.bytes.Add(int64(len(data)))
	}
}

func (w *watcher) send(ctx context.Context, message object) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	w.count.Add(1)
	return w.conn.Write(ctx, websocket.MessageText, text)
}

// await waits until the watcher has sent and received so many frames.
func (w *watcher) await(ctx context.Context, frames int) error {
	const pollEvery = 5 * time.Millisecond
	for w.frames() < frames {
		if err := retry.Sleep(ctx, pollEvery); err != nil {
			return fmt.Errorf("wait for frames: %w", err)
		}
	}
	return nil
}

func (w *watcher) frames() int { return int(w.count.Load()) }

func (w *watcher) close() error {
	err := w.conn.Close(websocket.StatusNormalClosure, "")
	<-w.ended
	return err
}
