package delay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/coder/websocket"
)

// frameLimit is the largest frame of the WebSocket API, in bytes.
const frameLimit = 128 << 10

var errNotSubscribed = errors.New("the subscription failed")

// watcher is a connection that watches one session.
type watcher struct {
	conn *websocket.Conn
	took []time.Duration // of each token, from its agent to the watcher
	left int             // tokens that have not arrived
}

// frame has the members of a message that are measured.
type frame struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
	Delta  struct {
		Text string `json:"text"`
	} `json:"delta"`
	Item struct {
		Content struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"content"`
	} `json:"item"`
}

// watch connects and subscribes; it returns once the subscription is active and
// the initial messages have arrived.
func watch(ctx context.Context, address, token, session string, tokens int) (*watcher, error) {
	conn, res, err := websocket.Dial(ctx, address+"?token="+url.QueryEscape(token), nil)
	if res != nil && res.Body != nil {
		_ = res.Body.Close() // of a refused connection
	}
	if err != nil {
		return nil, fmt.Errorf("connect a watcher: %w", err)
	}
	conn.SetReadLimit(frameLimit)
	w := &watcher{conn: conn, took: make([]time.Duration, tokens), left: tokens}
	if err := w.subscribe(ctx, session); err != nil {
		w.close()
		return nil, fmt.Errorf("subscribe a watcher: %w", err)
	}
	return w, nil
}

func (w *watcher) subscribe(ctx context.Context, session string) error {
	ask, err := json.Marshal(map[string]string{"action": "subscribe", "session_id": session})
	if err != nil {
		return err
	}
	if err := w.conn.Write(ctx, websocket.MessageText, ask); err != nil {
		return err
	}
	for {
		f, _, err := w.next(ctx)
		switch {
		case err != nil:
			return err
		case f.Type == "error":
			return fmt.Errorf("%w: %s", errNotSubscribed, f.Detail)
		case f.Type == "thread.status": // the last of the initial messages
			return nil
		}
	}
}

// next reads a frame and returns the time of its arrival.
func (w *watcher) next(ctx context.Context) (frame, time.Time, error) {
	_, data, err := w.conn.Read(ctx)
	came := time.Now()
	var f frame
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	return f, came, err
}

// read reads frames until every token has arrived. A token without a delta counts
// as arrived with the complete item.
func (w *watcher) read(ctx context.Context) error {
	for w.left > 0 {
		f, came, err := w.next(ctx)
		if err != nil {
			return fmt.Errorf("watch: %d tokens are missing: %w", w.left, err)
		}
		w.note(f.Delta.Text, came)
		for _, part := range f.Item.Content.Parts {
			w.note(part.Text, came)
		}
	}
	return nil
}

// note counts the tokens that arrive for the first time.
func (w *watcher) note(text string, came time.Time) {
	tokensOf(text, func(n int, at time.Time) {
		if n < len(w.took) && w.took[n] == 0 {
			w.took[n] = max(came.Sub(at), 1)
			w.left--
		}
	})
}

func (w *watcher) close() { _ = w.conn.CloseNow() } // it may be closed already
