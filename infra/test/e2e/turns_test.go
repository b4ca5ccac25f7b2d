package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/domain/watch"
)

// testTurns checks when streams of server-sent events start and end, in systems
// with short turns.
func testTurns(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("many turns deliver the same as one", func(t *testing.T) {
		testManyTurns(t, sys.Another(t, "STREAM_TURN=1s"))
	})
	t.Run("a simple reader ends with the thread, whatever the size of its items", func(t *testing.T) {
		testLargeItems(t, sys.Another(t, "STREAM_TURN=1s"))
	})
	t.Run("limits the open streams of a user", func(t *testing.T) {
		testBoundOfStreams(t, sys.Another(t, "MAX_STREAMS=2"))
	})
	t.Run("readers that disconnect silently do not lock others out", func(t *testing.T) {
		testLeavingReaders(t, sys.Another(t, "STREAM_TURN=12s", "STREAM_CONCURRENCY=30"))
	})
}

func testManyTurns(t *testing.T, sys *e2e.System) {
	t.Helper()
	const leastTurns = 6
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	mustAppend(t, alice, s, event("i0", "before"))
	_, id := mustRun(t, alice, s, "count", e2e.M{"mode": "external", "agent": "analyst"})
	run := s + "/runs/" + id
	reader := newPlainReader()
	follower := alice.Follow(path.Base(s), "a client", e2e.ServerSent)
	var enough atomic.Bool
	done := make(chan error, 1)
	go func() { done <- count(t.Context(), alice, run, " ", &enough) }()
	reader.follow(t, alice, s, func() bool {
		enough.Store(reader.turns > leastTurns)
		return reader.rest == 3
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for message, times := range reader.seen {
		if times > 1 {
			t.Errorf("received %d times: %.300s", times, message)
		}
	}
	thread := mustAgree(t, alice, s, []*e2e.Follower{follower})
	if reader.mustShow(t, thread); len(thread.Items) != 3 {
		t.Errorf("the thread has %d items", len(thread.Items))
	}
	t.Logf("%d messages in %d turns, %d of them at rest", len(reader.seen), reader.turns, reader.rest)
}

// testLargeItems has a reader receive items that are too large for a websocket
// message: one that grows, its completion, one that is complete at once, and a
// rewind between them.
func testLargeItems(t *testing.T, sys *e2e.System) {
	t.Helper()
	const large = 160_000 // bytes
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	mustAppend(t, alice, s, event("i0", "before"))
	_, id := mustRun(t, alice, s, "count", e2e.M{"mode": "external", "agent": "analyst"})
	reader := newPlainReader()
	var enough atomic.Bool
	done := make(chan error, 1)
	go func() {
		done <- count(t.Context(), alice, s+"/runs/"+id, " "+strings.Repeat("0123456789", 500), &enough)
	}()
	reader.follow(t, alice, s, func() bool {
		grown := len(reader.items) == 3 && len(reader.items[2].text) > 2*large && reader.turns > 4
		enough.Store(enough.Load() || grown)
		return enough.Load() && reader.status == "idle"
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	reader.mustShow(t, mustAgree(t, alice, s, nil))
	mustAppend(t, alice, s, event("i1", strings.Repeat("large ", large/6)))
	// History is cut while the stream is open, or between two turns.
	var cut bool
	reader.follow(t, alice, s, func() bool {
		if !cut && len(reader.items) == 4 {
			cut = true
			reader.mustShow(t, mustAgree(t, alice, s, nil))
			alice.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": "i1"}).Want(200)
			mustAppend(t, alice, s, event("i2", strings.Repeat("other ", large/6)))
		}
		return cut && len(reader.items) == 4 && strings.HasPrefix(reader.items[3].text, "other")
	})
	reader.mustShow(t, mustAgree(t, alice, s, nil))
	// A reader that starts in the current epoch receives all of it.
	fresh := newPlainReader()
	fresh.from = "1.0.0"
	fresh.follow(t, alice, s, func() bool { return fresh.status == "idle" })
	fresh.mustShow(t, mustAgree(t, alice, s, nil))
	for _, why := range slices.Concat(reader.reloads, fresh.reloads) {
		if why != watch.ReasonEpoch { // a turn may end before the rewind is sent
			t.Errorf("asked to read the thread: %s", why)
		}
	}
	t.Logf("%d messages in %d turns, asked to read the thread: %v %v", len(reader.seen), reader.turns, reader.reloads, fresh.reloads)
}

// count has an external run send numbers, separated by between, until enough is
// set, and ends the run.
func count(ctx context.Context, u *e2e.User, run, between string, enough *atomic.Bool) error {
	post := func(method, path string, body any) error {
		answer, err := u.Try(ctx, method, path, body)
		if err == nil && answer.Status/100 != 2 {
			err = fmt.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
		return err
	}
	text := ""
	for n := 0; !enough.Load() && ctx.Err() == nil; n++ {
		word := fmt.Sprint(n) + between
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

	broken.Close() // its function does not notice
	again := alice.Watch(s, nil, e2e.Header("Last-Event-ID", id))
	mustAppend(t, alice, s, event("i1", "news"))
	nextSnapshot(t, again)
	nextSnapshot(t, kept)
	// There are more of them than slots: each replaces another or is asked to retry
	// later, but none is refused for good.
	for range 10 {
		alice.Watch(s, nil, e2e.Header("Last-Event-ID", id))
	}
	if got := alice.Get(api + "/me/usage").Want(200); got.Int("data.streams.used") != 2 {
		t.Errorf("used is %s", got.Body)
	}
	for ok := true; ok; { // it was replaced, and ends
		_, _, ok = kept.Next()
	}
	alice.Delete(s).Want(204) // ends the open streams
	next := mustCreate(t, alice, nil)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for alice.Get(api+"/me/usage").Want(200).Int("data.streams.used") > 0 {
		<-look.C
	}
	alice.Watch(next, nil).Next()
}

// testLeavingReaders has twice as many readers disconnect as can be served at
// once.
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
			case status == 500: // the status of REST APIs when Lambda is throttled
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
			t.Logf("%d readers began, %d were refused; the next one was accepted after %s", begun.Load(), refused.Load(), time.Since(began))
			break
		}
		if time.Since(began) > e2e.Patience {
			t.Fatal("no reader is accepted")
		}
	}
}

// leave opens a stream and returns the status of its answer, which it does not
// read; it disconnects when ctx ends.
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
