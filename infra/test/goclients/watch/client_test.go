package watch_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/watch"
)

// follower watches a session and keeps the last state shown.
type follower struct {
	stop context.CancelFunc
	done chan error

	mu    sync.Mutex
	shows view.Session
	times int
}

func follow(t *testing.T, c *client.Client, id string) *follower {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	f := &follower{stop: stop, done: make(chan error, 1)}
	go func() { f.done <- c.Watch(ctx, id, f.take) }()
	t.Cleanup(stop)
	synctest.Wait()
	return f
}

func (f *follower) take(s view.Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shows = s
	f.times++
}

func (f *follower) now() view.Session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shows
}

func text(s string) []content.Delta { return []content.Delta{{Text: s}} }

func answer(m *model) {
	m.start()
	m.begin(json.RawMessage(`{"role":"model"}`), false, 3)
	m.flush(text("Hello, "))
}

func wantAsked(t *testing.T, c *cloud, want ...string) {
	t.Helper()
	if got := c.asked(); !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
}

// inBubble runs a test with a fake clock; it fails if a goroutine is left.
func inBubble(t *testing.T, name string, test func(c *cloud)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(newCloud(t, "s", "other")) })
	})
}

func TestWatch(t *testing.T) {
	inBubble(t, "shows each change of a session", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		got := c.asked()
		slices.Sort(got) // it connects and reads the thread concurrently
		if want := []string{"connect", "subscribe s", "thread s"}; !slices.Equal(got, want) {
			t.Errorf("requests %q, want %q", got, want)
		}
		for _, change := range []func(*model){
			answer,
			func(m *model) { m.flush(text("wörld")) },
			func(m *model) { m.put(m.append("i1", "meanwhile")) },
			func(m *model) { m.complete(true) },
			func(m *model) { m.end(run.Failed, true) },
			func(m *model) { m.start() },
		} {
			c.do("s", change)
			synctest.Wait()
			c.wantThread("s", f.now())
		}
		wantAsked(t, c)
	})
	inBubble(t, "shares a connection between sessions", func(c *cloud) {
		t := c.t
		cl := c.open()
		one, other := follow(t, cl, "s"), follow(t, cl, "other")
		c.do("s", answer)
		c.do("other", answer)
		synctest.Wait()
		c.wantThread("s", one.now())
		c.wantThread("other", other.now())
		if n := c.connections(); n != 1 {
			t.Errorf("%d connections", n)
		}
		c.asked()
		one.stop()
		synctest.Wait()
		wantAsked(t, c, "unsubscribe s")
		if err := <-one.done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := cl.Watch(t.Context(), "other", other.take); !errors.Is(err, client.ErrWatched) {
			t.Errorf("watching twice: %v", err)
		}
		cl.Close()
		if err := <-other.done; !errors.Is(err, client.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	inBubble(t, "reads the thread after a rewind that restores items", func(c *cloud) {
		t := c.t
		c.do("s", func(m *model) { m.put(m.append("i1", "one")) })
		f := follow(t, c.open(), "s")
		c.do("s", func(m *model) { m.rewind("i1") })
		synctest.Wait()
		if n := len(f.now().Items); n != 0 {
			t.Errorf("%d items after the rewind", n)
		}
		c.asked()
		c.do("s", func(m *model) { m.rewind(m.entries[1].events[0].InvocationID) })
		synctest.Wait()
		c.wantThread("s", f.now())
		wantAsked(t, c, "thread s")
	})
	inBubble(t, "ends when the session is deleted", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.do("s", (*model).delete)
		if err := <-f.done; !errors.Is(err, client.ErrDeleted) || !f.now().Deleted {
			t.Errorf("got %v, %+v", err, f.now())
		}
	})
}

func TestWatchRecovers(t *testing.T) {
	inBubble(t, "reconnects and shows what it missed", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.do("s", answer)
		synctest.Wait()
		c.asked()
		c.breakAll()
		synctest.Wait()
		c.do("s", func(m *model) { m.flush(text("world")); m.complete(false); m.end(run.Completed, false) })
		time.Sleep(time.Second)
		synctest.Wait()
		c.wantThread("s", f.now())
		wantAsked(t, c, "connect", "subscribe s")
	})
	inBubble(t, "subscribes again a second after a message was lost", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.asked()
		c.do("s", func(m *model) { m.start() })
		c.lose = func(m watch.Message) bool { return m.Type == watch.Snapshot }
		c.do("s", func(m *model) { m.put(m.append("i1", "lost")) })
		c.lose = func(watch.Message) bool { return false }
		c.do("s", func(m *model) { m.put(m.append("i2", "ahead")) })
		time.Sleep(view.Hold - time.Millisecond)
		synctest.Wait()
		wantAsked(t, c)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		wantAsked(t, c, "subscribe s")
		c.wantThread("s", f.now())
	})
	inBubble(t, "reads the thread for an item too large for a frame, with a back-off", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.do("s", func(m *model) {
			m.start()
			m.begin(nil, true, 3)
			m.flush(text("much"))
			m.put(m.append("i1", "behind it"))
		})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		c.wantThread("s", f.now())
		if n := len(c.asked()); n > 60 {
			t.Errorf("%d requests in ten minutes", n)
		}
		c.do("s", func(m *model) { m.complete(false) })
		time.Sleep(time.Minute)
		synctest.Wait()
		c.wantThread("s", f.now())
	})
	inBubble(t, "retries after a server error", func(c *cloud) {
		t := c.t
		c.status["s"] = 503
		f := follow(t, c.open(), "s")
		time.Sleep(time.Minute)
		c.mu.Lock()
		delete(c.status, "s")
		c.mu.Unlock()
		c.do("s", answer)
		time.Sleep(time.Minute)
		synctest.Wait()
		c.wantThread("s", f.now())
	})
	for status, want := range map[int]error{404: client.ErrNotFound, 403: client.ErrForbidden, 422: client.ErrRefused} {
		inBubble(t, "ends when the thread is refused: "+want.Error(), func(c *cloud) {
			t := c.t
			c.status["s"] = status
			if err := <-follow(t, c.open(), "s").done; !errors.Is(err, want) {
				t.Errorf("got %v", err)
			}
		})
		inBubble(t, "ends when a later subscription is refused: "+want.Error(), func(c *cloud) {
			t := c.t
			f := follow(t, c.open(), "s")
			c.mu.Lock()
			c.status["s"] = status
			c.mu.Unlock()
			c.breakAll()
			if err := <-f.done; !errors.Is(err, want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestConnection(t *testing.T) {
	inBubble(t, "keeps the connection alive with pings", func(c *cloud) {
		t := c.t
		follow(t, c.open(), "s")
		c.asked()
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		wantAsked(t, c, "ping", "ping")
	})
	inBubble(t, "replaces a connection that does not answer", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.asked()
		c.mu.Lock()
		c.deaf = true
		c.mu.Unlock()
		time.Sleep(5*time.Minute + 11*time.Second)
		synctest.Wait()
		wantAsked(t, c, "ping", "connect", "subscribe s")
		c.do("s", answer)
		synctest.Wait()
		c.wantThread("s", f.now())
	})
	inBubble(t, "renews the connection before the two-hour limit, without a gap", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.asked()
		most := 0
		for range 130 {
			time.Sleep(time.Minute)
			c.do("s", func(m *model) { m.put(m.append(m.name("i"), "tick")) })
			synctest.Wait()
			c.wantThread("s", f.now())
			most = max(most, c.connections())
		}
		got := slices.DeleteFunc(c.asked(), func(a string) bool { return a == "ping" })
		if want := []string{"connect", "subscribe s"}; !slices.Equal(got, want) {
			t.Errorf("requests %q, want %q", got, want)
		}
		if n := c.connections(); n != 1 || most != 2 {
			t.Errorf("%d connections remain, at most %d were open", n, most)
		}
	})
	inBubble(t, "reconnects when the token has expired", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.do("s", answer)
		synctest.Wait()
		c.asked()
		c.mu.Lock()
		for conn := range c.sockets {
			c.write(conn, mustJSON(map[string]any{"type": "error", "request_id": "x", "status": 401, "detail": "expired"}))
		}
		c.mu.Unlock()
		time.Sleep(time.Second)
		synctest.Wait()
		wantAsked(t, c, "connect", "subscribe s")
		c.wantThread("s", f.now())
	})
}
