package sse_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMissingMessages(t *testing.T) {
	bubble(t, "subscribes again where a message is missing", func(t *testing.T) {
		actions := make(chan string, 2)
		c := newAPI(t, func(s *session) {
			actions <- s.action
			s.subscribed()
			if s.number == 1 {
				s.endReplay("0.3.0", "idle")
				s.item("0.5.0", "0.4.0", "completed")
			} else {
				s.item("0.4.0", "0.3.0", "completed")
				s.item("0.5.0", "0.4.0", "completed")
				s.endReplay("0.5.0", "idle")
			}
			s.untilClosed()
		})
		c.Hold = time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		if diff := cmp.Diff([]string{"0.3.0", "0.4.0", "0.5.0", "0.5.0"}, a.ids(4)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		<-actions
		want(t, <-actions, `{"action":"subscribe","request_id":"stream","session_id":"s1","cursor":"0.3.0"}`)
	})
	bubble(t, "ends the stream in order after repeated gaps", func(t *testing.T) {
		var opened atomic.Int64
		c := newAPI(t, func(s *session) {
			opened.Store(s.number)
			s.subscribed()
			s.endReplay("0.3.0", "idle")
			s.item("0.5.0", "0.4.0", "completed")
			s.untilClosed()
		})
		c.Hold = time.Millisecond
		if diff := cmp.Diff([]string{"0.3.0 0.3.0"}, open(t, c, newEvent()).all()); diff != "" || opened.Load() != 5 {
			t.Errorf("%d connections (-want +got):\n%s", opened.Load(), diff)
		}
	})
	bubble(t, "sends the status after a rewind although the websocket was disconnected between", func(t *testing.T) {
		c := newAPI(t, func(s *session) {
			s.subscribed()
			if s.number == 1 {
				s.endReplay("0.4.0", "in_progress")
				s.message("thread.rewound", "1.5.0", "0.4.0")
				return
			}
			s.endReplay("1.5.0", "idle")
			s.untilClosed()
		})
		a := open(t, c, newEvent())
		a.next()
		if diff := cmp.Diff([]string{"0.4.0", "1.5.0", "1.5.0"}, a.ids(3)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Items too large for a websocket message are read with the caller's token.
func TestLargeItems(t *testing.T) {
	const reload = `{"type":"thread.reload","reason":"item_too_large","session_id":"s1"`
	for name, test := range map[string]struct {
		play  func(*session)
		query string
		want  string // of the event with the item
	}{
		"a replayed item": {func(s *session) {
			s.send(reload + `,"subscription":"stream","cursor":"0.4.0","prev":"0.3.0"}`)
			s.endReplay("0.4.0", "idle")
		}, "after=3&limit=1", "id: 0.4.0\nevent: item.snapshot\n"},
		"a new item": {func(s *session) {
			s.endReplay("0.3.0", "idle")
			s.send(reload + `,"cursor":"0.4.0","prev":"0.3.0"}`)
		}, "after=3&limit=1", "id: 0.4.0\nevent: item.snapshot\n"},
		"the end of a streamed item": {func(s *session) {
			s.item("0.4.7", "0.3.0", "in_progress")
			s.endReplay("0.4.7", "in_progress")
			s.send(reload + `,"cursor":"0.4.8","prev":"0.4.7"}`)
		}, "after=3&limit=1", "id: 0.4.8\nevent: item.completed\n"},
	} {
		bubble(t, name, func(t *testing.T) {
			requests := make(chan string, 8)
			c := newAPIWithItems(t, func(s *session) { s.subscribed(); test.play(s); s.untilClosed() }, itemAPI(requests, 0))
			a := open(t, c, newEvent())
			got := a.next()
			for !strings.Contains(got, `"id":"e4"`) {
				if got = a.next(); got == "" || strings.Contains(got, "reload") {
					t.Fatalf("got %q", got)
				}
			}
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got %s", got)
			}
			want(t, <-requests, "Bearer good /sessions/s1/events?"+test.query)
		})
	}
	bubble(t, "retries an item that cannot be read", func(t *testing.T) {
		requests := make(chan string, 8)
		c := newAPIWithItems(t, func(s *session) {
			s.subscribed()
			s.send(reload + `,"subscription":"stream","cursor":"0.4.0","prev":"0.3.0"}`)
			s.endReplay("0.4.0", "idle")
			s.untilClosed()
		}, itemAPI(requests, 2))
		a := open(t, c, newEvent())
		a.next()
		if diff := cmp.Diff([]string{"0.4.0", "0.4.0"}, a.ids(2)); diff != "" || len(requests) != 3 {
			t.Errorf("%d requests (-want +got):\n%s", len(requests), diff)
		}
	})
	bubble(t, "ends the stream in order if an item can never be read", func(t *testing.T) {
		c := newAPIWithItems(t, func(s *session) {
			s.subscribed()
			s.send(reload + `,"subscription":"stream","cursor":"0.4.0","prev":"0.3.0"}`)
			s.untilClosed()
		}, itemAPI(make(chan string, 8), 8))
		want(t, open(t, c, newEvent()).rest(), "retry: 1000\n\n")
	})
}

// itemAPI serves an HTTP API that has the item at position 4; its first
// requests fail.
func itemAPI(requests chan<- string, failures int64) http.HandlerFunc {
	var count atomic.Int64
	return func(rw http.ResponseWriter, r *http.Request) {
		requests <- r.Header.Get("Authorization") + " " + r.URL.RequestURI()
		if count.Add(1) <= failures {
			http.Error(rw, "busy", http.StatusTooManyRequests)
			return
		}
		_, _ = rw.Write([]byte(`{"data":[{"id":"e4","seq":4,"status":"completed"}]}`)) // the reader may have left
	}
}
