package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/e2e"
	"github.com/rethread/rethread/shared/session"
	"github.com/rethread/rethread/shared/watch"
	"github.com/rethread/rethread/shared/watch/client"
)

// testTurns is about when streams of server-sent events begin and end, in
// systems whose turns are short.
func testTurns(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("a session is told over many turns as in one", func(t *testing.T) {
		testManyTurns(t, sys.Another(t, "STREAM_TURN=1s"))
	})
	t.Run("so many streams of a user are open and no more", func(t *testing.T) {
		testBoundOfStreams(t, sys.Another(t, "MAX_STREAMS=2"))
	})
	t.Run("readers who leave without a word lock nobody out", func(t *testing.T) {
		testLeavingReaders(t, sys.Another(t, "STREAM_TURN=12s", "STREAM_CONCURRENCY=30"))
	})
}

// plainReader is what a page does with EventSource: it comes back with the id of
// the last event, puts items where they belong and deltas behind one another.
type plainReader struct {
	items  []plainItem // by seq
	status string
	seen   map[string]int // messages
	last   string         // id
	turns  int
	rest   int // turns that ended while the session was at rest
}

type plainItem struct {
	id          string
	seq, offset int64
	text        string
	whole       bool
}

func (p *plainReader) take(t *testing.T, f e2e.Frame, id string) {
	t.Helper()
	if id != "" {
		p.last = id
	}
	p.seen[id+" "+string(f.Text)]++
	m, err := client.ParseMessage(f.Text)
	if err != nil {
		t.Fatal(err)
	}
	switch m.Type {
	case watch.Status:
		p.status = string(m.Status)
	case watch.Snapshot, watch.ItemCompleted:
		p.put(plainItem{
			id: m.Item.ID, seq: m.Item.Seq, offset: m.Cursor.Offset, text: contentOf(t, *m.Item),
			whole: m.Item.Status == session.EventCompleted,
		})
	case watch.DeltaType:
		for i, it := range p.items {
			if it.seq == m.Cursor.Seq && m.Prev.Offset == it.offset {
				p.items[i].text += m.Delta.Text
				p.items[i].offset = m.Cursor.Offset
			}
		}
	default:
		t.Fatalf("told: %s", f.Text)
	}
}

// put replaces an item, or puts it where it belongs.
func (p *plainReader) put(item plainItem) {
	at, known := slices.BinarySearchFunc(p.items, item.seq, func(i plainItem, seq int64) int { return cmp.Compare(i.seq, seq) })
	if known {
		p.items[at] = item
		return
	}
	p.items = slices.Insert(p.items, at, item)
}

func contentOf(t *testing.T, e session.Event) string {
	t.Helper()
	var content struct{ Parts []struct{ Text string } }
	if raw := e.Fields["content"]; raw != nil {
		if err := json.Unmarshal(raw, &content); err != nil {
			t.Fatal(err)
		}
	}
	text := ""
	for _, part := range content.Parts {
		text += part.Text
	}
	return text
}

// follow reads turn after turn until enough was told.
func (p *plainReader) follow(t *testing.T, u *e2e.User, session string, enough func() bool) {
	t.Helper()
	for !enough() {
		var opts []e2e.Option
		if p.last != "" {
			opts = append(opts, e2e.Header("Last-Event-ID", p.last))
		}
		// The address stays as it was, with a position that is an old one by now.
		stream := u.Watch(session, url.Values{"cursor": {"0.0.0"}}, opts...)
		p.turns++
		for !enough() {
			f, id, ok := stream.Next()
			if !ok {
				if p.status == "idle" {
					p.rest++
				}
				break
			}
			p.take(t, f, id)
		}
		stream.Close()
	}
}

func testManyTurns(t *testing.T, sys *e2e.System) {
	t.Helper()
	const leastTurns = 6
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	mustAppend(t, alice, s, event("i0", "before"))
	_, id := mustRun(t, alice, s, "count", e2e.M{"mode": "external", "agent": "analyst"})
	run := s + "/runs/" + id
	reader := &plainReader{seen: map[string]int{}}
	follower := alice.Follow(path.Base(s), "a client", e2e.ServerSent)
	var enough atomic.Bool
	told := make(chan error, 1)
	go func() { told <- count(t.Context(), alice, run, &enough) }()
	reader.follow(t, alice, s, func() bool {
		enough.Store(reader.turns > leastTurns)
		return reader.rest == 3
	})
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	for message, times := range reader.seen {
		if times > 1 {
			t.Errorf("told %d times: %.300s", times, message)
		}
	}
	thread := mustAgree(t, alice, s, []*e2e.Follower{follower})
	var want []plainItem
	for i, item := range thread.Items {
		want = append(want, plainItem{id: item.ID, seq: item.Seq, text: contentOf(t, item), whole: true})
		if i < len(reader.items) {
			want[i].offset = reader.items[i].offset
		}
	}
	if !slices.Equal(want, reader.items) || len(want) != 3 {
		t.Errorf("the thread is %+v, and what is shown %+v", want, reader.items)
	}
	t.Logf("%d messages in %d turns, %d of them at rest", len(reader.seen), reader.turns, reader.rest)
}

// count has an external run say numbers until it is enough, and ends it.
func count(ctx context.Context, u *e2e.User, run string, enough *atomic.Bool) error {
	post := func(method, path string, body any) error {
		answer, err := u.Try(ctx, method, path, body)
		if err == nil && answer.Status/100 != 2 {
			err = fmt.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
		return err
	}
	text := ""
	for n := 0; !enough.Load() && ctx.Err() == nil; n++ {
		word := fmt.Sprintf("%d ", n)
		text += word
		err := post("POST", run+"/deltas", e2e.M{"item_id": "answer", "author": "agent", "deltas": []e2e.M{{"part": 0, "text": word}}})
		if err != nil {
			return err
		}
	}
	err := post("POST", run+"/events", e2e.M{"events": []e2e.M{{
		"id": "answer", "author": "agent", "content": e2e.M{"role": "model", "parts": []e2e.M{{"text": text}}},
	}}})
	if err != nil {
		return err
	}
	return post("PATCH", run, e2e.M{"status": "completed"})
}

func testBoundOfStreams(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	s := mustCreate(t, alice, nil)
	broken, kept := alice.Watch(s, nil), alice.Watch(s, nil)
	_, id, _ := broken.Next()
	kept.Next()
	refused := alice.Get(s + "/watch").Want(429)
	if refused.Str("quota") != "streams" || refused.Int("limit") != 2 || refused.Header.Get("Retry-After") == "" {
		t.Errorf("refused with %v %s", refused.Header, refused.Body)
	}
	if got := alice.Get(api + "/me/usage").Want(200); got.Int("data.streams.used") != 2 || got.Int("data.streams.limit") != 2 {
		t.Errorf("used is %s", got.Body)
	}
	bob.Watch(mustCreate(t, bob, nil), nil).Next()

	broken.Close() // of which its function learns nothing
	again := alice.Watch(s, nil, e2e.Header("Last-Event-ID", id))
	mustAppend(t, alice, s, event("i1", "news"))
	nextSnapshot(t, again)
	nextSnapshot(t, kept)
	// More of them than there are places: each takes the place of one, or is told
	// to come later, but nobody is refused for good.
	for range 10 {
		alice.Watch(s, nil, e2e.Header("Last-Event-ID", id))
	}
	if got := alice.Get(api + "/me/usage").Want(200); got.Int("data.streams.used") != 2 {
		t.Errorf("used is %s", got.Body)
	}
	for ok := true; ok; { // it was taken over, and ends
		_, _, ok = kept.Next()
	}
	alice.Delete(s).Want(204) // ends what is open
	next := mustCreate(t, alice, nil)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for alice.Get(api+"/me/usage").Want(200).Int("data.streams.used") > 0 {
		<-look.C
	}
	alice.Watch(next, nil).Next()
}

// testLeavingReaders has twice as many readers leave as may be served at once.
func testLeavingReaders(t *testing.T, sys *e2e.System) {
	t.Helper()
	const readers, each = 60, 15
	ctx, left := context.WithCancel(t.Context())
	defer left()
	var begun, refused atomic.Int64
	var opening errgroup.Group
	for n := range readers {
		u := sys.User(t, fmt.Sprint("reader", n/each))
		s := mustCreate(t, u, nil)
		opening.Go(func() error {
			switch status, err := leave(ctx, u, sys.URL, s); {
			case err != nil:
				return err
			case status == 200:
				begun.Add(1)
			case status == 500: // as REST APIs say it where Lambda has no room
				refused.Add(1)
			default:
				t.Errorf("a reader is answered %d", status)
			}
			return nil
		})
	}
	if err := opening.Wait(); err != nil {
		t.Fatal(err)
	}
	left()
	if begun.Load() < 30 || refused.Load() == 0 {
		t.Errorf("%d began and %d were refused", begun.Load(), refused.Load())
	}
	// Other requests are served all the time, and streams again after a turn.
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	mustAppend(t, alice, s, event("i1", "news"))
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for began := time.Now(); ; <-look.C {
		status, err := leave(t.Context(), alice, sys.URL, s)
		if err != nil {
			t.Fatal(err)
		}
		if status == 200 {
			t.Logf("%d readers began, %d were refused; the next one was let in after %s", begun.Load(), refused.Load(), time.Since(began))
			break
		}
		if time.Since(began) > e2e.Patience {
			t.Fatal("nobody is let in")
		}
	}
}

// leave opens a stream and returns the status of its answer; nobody reads it,
// and whoever asked is gone when ctx ends.
func leave(ctx context.Context, u *e2e.User, url, session string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+session+"/watch?token="+u.Token, nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultTransport.RoundTrip(req) //nolint:bodyclose // it ends with ctx
	if err != nil {
		return 0, err
	}
	return res.StatusCode, nil
}
