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

// watcher is one connection that watches one session.
type watcher struct {
	conn *websocket.Conn
	took []time.Duration // of each token, from its agent to here
	left int             // tokens that have not come
}

// frame is what the measurement reads of a message.
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

// watch connects and subscribes; it returns when the subscription stands and
// what there was before has come.
func watch(ctx context.Context, address, token, session string, tokens int) (*watcher, error) {
	conn, res, err := websocket.Dial(ctx, address+"?token="+url.QueryEscape(token), nil)
	if res != nil && res.Body != nil {
		_ = res.Body.Close() // of a refusal
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
		case f.Type == "thread.status": // the last of what there was before
			return nil
		}
	}
}

// next reads a frame and notes when it came.
func (w *watcher) next(ctx context.Context) (frame, time.Time, error) {
	_, data, err := w.conn.Read(ctx)
	came := time.Now()
	var f frame
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	return f, came, err
}

// read takes frames until every token has come. A token that no delta brought
// counts from when the whole item did.
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

// note takes the tokens that come for the first time.
func (w *watcher) note(text string, came time.Time) {
	tokensOf(text, func(n int, at time.Time) {
		if n < len(w.took) && w.took[n] == 0 {
			w.took[n] = max(came.Sub(at), 1)
			w.left--
		}
	})
}

func (w *watcher) close() { _ = w.conn.CloseNow() } // it may be closed already
