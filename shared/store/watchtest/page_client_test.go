package watchtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/e2e/pageclient"
	"github.com/rethread/rethread/shared/domain/watch"
)

// page is a session that a client watches by the rules of the page, and the network
// in between.
type page struct {
	watching // the actions on the session
	*functions

	client     *pageclient.Session
	thread     [][]byte // read, and not applied yet
	connected  bool
	connection string

	news      []watch.LogUpdate // not delivered yet
	delivered []watch.LogUpdate
	lanes     [][][]byte // messages on their way, in order within each lane
	breaking  bool       // a message was lost, so the connection will break

	tally
	idle  int // threads read since the last change
	trace []string
}

func newPage(t *testing.T, rt *rapid.T, f *functions, records *tableChanges) *page {
	t.Helper()
	w := &page{
		watching:  watching{t: t, store: f.store, records: records, id: uuid.NewString(), now: time.UnixMilli(0)},
		functions: f, client: pageclient.New(),
	}
	w.must(rt, w.create(t.Context()))
	return w
}

// happens records a change for which a client may have to read.
func (w *page) happens() { w.idle = 0 }

func (w *page) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%.220s", fmt.Sprintf(format, args...)))
	w.trace = w.trace[max(0, len(w.trace)-60):]
}

// collect reads this session's changes from the stream.
func (w *page) collect(ctx context.Context) error {
	for _, c := range w.records.next() {
		news, err := w.functions.store.WatchMessages(ctx, c.Change)
		if err != nil {
			return err
		}
		if news.Log == w.log && len(news.Messages) > 0 {
			w.news = append(w.news, news)
			w.happens()
		}
	}
	return nil
}

// tell lets the stream's function deliver some changes, in any order.
func (w *page) tell(ctx context.Context, rt *rapid.T) error {
	if len(w.news) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(w.news)-1).Draw(rt, "news")
	n := rapid.IntRange(1, min(3, len(w.news)-i)).Draw(rt, "changes")
	batch := slices.Clone(w.news[i : i+n])
	w.news = slices.Delete(w.news, i, i+n)
	w.delivered = append(w.delivered, batch...)
	return w.deliver(ctx, batch)
}

// tellTwice delivers a change once more.
func (w *page) tellTwice(ctx context.Context, rt *rapid.T) error {
	if len(w.delivered) == 0 {
		return nil
	}
	w.doubled++
	return w.deliver(ctx, []watch.LogUpdate{rapid.SampledFrom(w.delivered).Draw(rt, "again")})
}

func (w *page) deliver(ctx context.Context, batch []watch.LogUpdate) error {
	w.happens()
	err := errors.Join(w.fanout.Deliver(ctx, batch)...)
	w.send(w.posts.sent())
	return err
}

// send puts messages on their way.
func (w *page) send(frames [][]byte) {
	if len(frames) > 0 {
		w.lanes = append(w.lanes, frames)
	}
}

// arrive takes the next message of some lane.
func (w *page) arrive(rt *rapid.T) []byte {
	i := rapid.IntRange(0, len(w.lanes)-1).Draw(rt, "lane")
	frame := w.lanes[i][0]
	if w.lanes[i] = w.lanes[i][1:]; len(w.lanes[i]) == 0 {
		w.lanes = slices.Delete(w.lanes, i, i+1)
	}
	return frame
}

// hear delivers some messages to the client.
func (w *page) hear(_ context.Context, rt *rapid.T) error {
	for n := rapid.IntRange(1, 8).Draw(rt, "messages"); n > 0 && len(w.lanes) > 0; n-- {
		frame := w.arrive(rt)
		var m struct{ Type, Cursor, Subscription string }
		if err := json.Unmarshal(frame, &m); err != nil {
			return err
		}
		w.note("received %s", frame)
		switch {
		case m.Type == "error":
			return fmt.Errorf("refused: %s", frame) //nolint:err113 // a test shows it
		case m.Cursor == "":
			continue // it answers the subscription
		case m.Type == "thread.reload":
			if w.reloads++; m.Subscription == "" {
				w.happens()
			}
		}
		w.received++
		if err := w.client.Hear(frame, w.now); err != nil {
			return err
		}
	}
	return nil
}

// lose drops a message; the connection will break, as it is closed after a failed
// post.
func (w *page) lose(_ context.Context, rt *rapid.T) error {
	if len(w.lanes) > 0 {
		w.note("lost %s", w.arrive(rt))
		w.breaking = true
		w.lost++
	}
	return nil
}

// breakOff ends the connection. Messages on their way are lost.
func (w *page) breakOff(context.Context, *rapid.T) error {
	w.note("the connection broke")
	w.lanes, w.connected, w.breaking, w.connection = nil, false, false, ""
	w.posts.open("")
	return nil
}

// wait lets time pass.
func (w *page) wait(context.Context, *rapid.T) error {
	w.now = w.now.Add(pageclient.Hold)
	return nil
}

// react performs one action that the page requires of the client.
func (w *page) react(ctx context.Context, rt *rapid.T) error {
	switch at, waits := w.client.Asks(); {
	case w.client.Ended():
		return nil
	case w.thread != nil:
		err := w.client.ReadThread(w.thread...)
		w.thread = nil
		w.note("the thread: %s", w.client.Waiting())
		if err != nil {
			return err
		}
		return w.subscribe(ctx)
	case w.client.NeedsThread():
		return w.read(ctx, rt)
	case !w.connected, waits && !at.After(w.now):
		if w.client.Lacks(); w.client.NeedsThread() {
			return w.read(ctx, rt)
		}
		return w.subscribe(ctx)
	}
	return nil
}

// subscribe catches the client up, on a new connection if there is none.
func (w *page) subscribe(ctx context.Context) error {
	if !w.connected {
		w.connected, w.connection = true, uuid.NewString()[:16]
		w.posts.open(w.connection)
	}
	if w.subscriptions++; w.item != nil && w.item.Content().Size() > watch.MaxMessage {
		w.large++
	}
	cursor := w.client.Subscribe(w.now)
	w.note("subscribe from %s", cursor)
	err := w.functions.send(ctx, w.connection, map[string]string{
		"action": "subscribe", "session_id": w.id, "cursor": cursor, "request_id": fmt.Sprint(w.subscriptions),
	})
	frames := w.posts.sent()
	var first struct {
		Type   string
		Status int
	}
	if err == nil && len(frames) > 0 {
		err = json.Unmarshal(frames[0], &first)
	}
	if first.Type == "error" && first.Status == http.StatusNotFound {
		w.client.Gone()
		return err
	}
	w.send(frames)
	return err
}

// read reads the thread, in pages of any size. The rules must not make a client read
// repeatedly without changes.
func (w *page) read(ctx context.Context, rt *rapid.T) error {
	const most = 2
	w.reads++
	if w.idle++; w.idle > most {
		rt.Fatalf("the thread is read %d times in a row\n%s", w.idle, strings.Join(w.trace, "\n"))
	}
	pages, found, err := w.get(ctx, rapid.SampledFrom([]int{1, 3, 1000}).Draw(rt, "page"))
	if !found {
		w.client.Gone()
		return err
	}
	w.thread = pages
	return err
}

// get reads all pages of the thread; found is false without a session.
func (w *page) get(ctx context.Context, limit int) (pages [][]byte, found bool, err error) {
	for cursor := ""; ; {
		query := url.Values{"limit": {fmt.Sprint(limit)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		status, body, err := w.page(ctx, w.id, query.Encode())
		if status == http.StatusNotFound || err != nil {
			return nil, false, err
		}
		if status != http.StatusOK {
			return nil, false, fmt.Errorf("%d %s", status, body) //nolint:err113 // a test shows it
		}
		var answer struct {
			Meta struct {
				NextCursor string `json:"next_cursor"`
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return nil, false, err
		}
		if pages, cursor = append(pages, body), answer.Meta.NextCursor; cursor == "" {
			return pages, true, nil
		}
	}
}

// shows returns what the client shows, as JSON.
func (w *page) shows() []map[string]any {
	var out []map[string]any
	for _, it := range w.client.Items {
		raw, err := json.Marshal(it.Event)
		var shown map[string]any
		if err == nil {
			err = json.Unmarshal(raw, &shown)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, shown)
	}
	return out
}
