package sse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

func want(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStream(t *testing.T) {
	t.Run("messages become events", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.item("0.1.0", "0.0.0", "completed") // pushed before the answer
			s.subscribed()
			s.stands("0.0.0", "idle")
			s.send(`{"type":"pong"}`)
			s.send(`{"type":"item.snapshot","session_id":"another","cursor":"0.9.0","prev":"0.8.0"}`)
			s.send("{\"type\":\"thread.status\",\n\"session_id\":\"s1\",\"cursor\":\"0.2.0\",\"prev\":\"0.1.0\",\"status\":\"idle\"}")
			s.untilClosed()
		}), newEvent())
		wantHeaders := map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
			"Access-Control-Allow-Origin": "*",
		}
		if diff := cmp.Diff(wantHeaders, a.Headers); a.Status != 200 || diff != "" {
			t.Errorf("%d, headers (-want +got):\n%s", a.Status, diff)
		}
		want(t, a.next(), "retry: 1000")
		want(t, a.next(), `id: 0.0.0
event: thread.status
data: {"type":"thread.status","session_id":"s1","cursor":"0.0.0","prev":"0.0.0","status":"idle","subscription":"stream"}`)
		want(t, a.next(), `id: 0.1.0
event: item.snapshot
data: {"type":"item.snapshot","session_id":"s1","cursor":"0.1.0","prev":"0.0.0","item":{"status":"completed"},"offset":0}`)
		want(t, a.next(), `id: 0.2.0
event: thread.status
data: {"type":"thread.status","session_id":"s1","cursor":"0.2.0","prev":"0.1.0","status":"idle"}`)
	})
	t.Run("a silent stream says that it is alive", func(t *testing.T) {
		c := newAPI(t, func(s *session) { s.subscribed(); s.untilClosed() })
		c.Heartbeat = time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		want(t, a.next(), ": ping")
		want(t, a.next(), ": ping")
	})
	t.Run("the websocket is kept alive", func(t *testing.T) {
		c := newAPI(t, func(s *session) {
			s.subscribed()
			read := make(chan struct{})
			go func() {
				defer close(read)
				s.untilClosed() // reading answers pings
			}()
			for range 3 {
				<-s.pings
			}
			s.stands("0.1.0", "idle")
			<-read
		})
		c.Keepalive = time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		if diff := cmp.Diff([]string{"0.1.0"}, a.ids(1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a websocket that answers no ping is replaced", func(t *testing.T) {
		again := make(chan struct{})
		c := newAPI(t, func(s *session) {
			s.subscribed()
			if s.number == 1 {
				<-again
				return
			}
			close(again)
			s.stands("0.1.0", "idle")
			s.untilClosed()
		})
		c.Keepalive, c.Answer = 200*time.Millisecond, 300*time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		if diff := cmp.Diff([]string{"0.1.0"}, a.ids(1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("whoever leaves ends the subscription", func(t *testing.T) {
		closed := make(chan struct{})
		a := open(t, newAPI(t, func(s *session) {
			s.subscribed()
			s.untilClosed()
			close(closed)
		}), newEvent())
		a.next()
		if err := a.raw.Close(); err != nil {
			t.Fatal(err)
		}
		<-closed
	})
	t.Run("whoever does not read ends it too", func(t *testing.T) {
		closed := make(chan struct{})
		a := open(t, newAPI(t, func(s *session) {
			s.subscribed()
			for seq := 1; s.ctx.Err() == nil && seq < 100; seq++ {
				s.item(fmt.Sprintf("0.%d.0", seq), fmt.Sprintf("0.%d.0", seq-1), "completed")
			}
			s.untilClosed()
			close(closed)
		}), newEvent())
		if err := a.raw.Close(); err != nil {
			t.Fatal(err)
		}
		<-closed
	})
	t.Run("it ends in order before Lambda's time is up", func(t *testing.T) {
		c := newAPI(t, func(s *session) { s.subscribed(); s.item("0.1.0", "0.0.0", "completed"); s.untilClosed() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c.Margin = time.Minute - 500*time.Millisecond
		a := openWith(ctx, t, c, newEvent())
		if rest := a.rest(); !strings.HasSuffix(rest, "\n\n") || !strings.Contains(rest, "id: 0.1.0\n") {
			t.Errorf("got %q", rest)
		}
		if ctx.Err() != nil {
			t.Error("it ended too late")
		}
	})
	t.Run("it ends when the token expires, and says so", func(t *testing.T) {
		event, c := newEvent(), newAPI(t, func(s *session) { s.subscribed(); s.untilClosed() })
		exp := time.Now().Add(time.Hour).Truncate(time.Second)
		event.RequestContext.Authorizer["exp"] = fmt.Sprint(exp.Unix())
		c.Now = func() time.Time { return exp.Add(-200 * time.Millisecond) }
		want(t, open(t, c, event).rest(), "retry: 1000\n\nevent: unsubscribed\n"+
			`data: {"type":"unsubscribed","session_id":"s1","reason":"token_expired","status":401}`+"\n\n")
	})
	t.Run("it ends when the token expires, read or not", func(t *testing.T) {
		event := newEvent()
		closed := make(chan struct{})
		c := newAPI(t, func(s *session) {
			defer close(closed)
			s.subscribed()
			s.item("0.1.0", "0.0.0", "completed")
			s.untilClosed()
		})
		exp := time.Now().Add(time.Hour).Truncate(time.Second)
		event.RequestContext.Authorizer["exp"] = fmt.Sprint(exp.Unix())
		c.Now = func() time.Time { return exp.Add(-200 * time.Millisecond) }
		open(t, c, event)
		<-closed
	})
	t.Run("it ends when the caller may watch no longer, and is not opened anew", func(t *testing.T) {
		for name, farewell := range map[string]string{
			"told at once":        `{"type":"unsubscribed","session_id":"s1","reason":"revoked","status":403}`,
			"told of by a member": `{"type":"unsubscribed","session_id":"s1","reason":"expired","status":403,"more":1}`,
		} {
			t.Run(name, func(t *testing.T) {
				a := open(t, newAPI(t, func(s *session) {
					if s.number > 1 {
						t.Error("it was opened anew")
					}
					s.subscribed()
					s.item("0.1.0", "0.0.0", "completed")
					s.send(`{"type":"unsubscribed","session_id":"s2","reason":"revoked","status":403}`)
					s.send("%s", farewell)
					s.untilClosed()
				}), newEvent())
				a.next()
				a.ids(1)
				known := strings.Replace(farewell, `,"more":1`, "", 1)
				want(t, a.rest(), "id: 0.1.0\nevent: unsubscribed\ndata: "+known+"\n\n")
			})
		}
	})
	t.Run("what it is told before the answer is not forgotten", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.send(`{"type":"unsubscribed","session_id":"s1","reason":"revoked","status":403}`)
			s.item("0.1.0", "0.0.0", "completed")
			s.subscribed()
			s.untilClosed()
		}), newEvent())
		a.next()
		if rest := a.rest(); !strings.Contains(rest, `"reason":"revoked"`) {
			t.Errorf("got %q", rest)
		}
	})
	t.Run("nothing follows the end of the session", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.subscribed()
			s.item("0.1.0", "0.0.0", "completed")
			s.say("thread.deleted", "0.0.0", "0.0.0")
			s.say("thread.status", "0.2.0", "0.1.0")
			s.untilClosed()
		}), newEvent())
		a.next()
		if diff := cmp.Diff([]string{"0.1.0", "0.1.0"}, a.ids(2)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		want(t, a.next(), "")
	})
}

func TestReconnecting(t *testing.T) {
	t.Run("a websocket that breaks is opened anew where the stream stands", func(t *testing.T) {
		actions := make(chan string, 3)
		a := open(t, newAPI(t, func(s *session) {
			actions <- s.action
			s.subscribed()
			switch s.number {
			case 1: // breaks at once
			case 2:
				s.item("0.4.2", "0.3.0", "in_progress")
				s.stands("0.4.2", "in_progress")
				s.say("item.delta", "0.4.3", "0.4.2")
				s.item("0.5.0", "0.4.3", "completed")
			default:
				s.item("0.4.4", "0.4.3", "in_progress")
				s.item("0.5.0", "0.4.4", "completed")
				s.untilClosed()
			}
		}), mustPosition("last_item_id", "e4"))
		a.next()
		if diff := cmp.Diff([]string{"0.4.2", "0.4.2", "0.4.3", "0.4.3", "0.4.4", "0.4.4"}, a.ids(6)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		const begin = `{"action":"subscribe","request_id":"stream","session_id":"s1",`
		want(t, <-actions, begin+`"last_item_id":"e4"}`)
		want(t, <-actions, begin+`"last_item_id":"e4"}`)
		want(t, <-actions, begin+`"cursor":"0.4.3"}`)
	})
	refuse := func(status int) func(*session) {
		return func(s *session) { s.send(`{"type":"error","request_id":"stream","status":%d,"detail":"no"}`, status) }
	}
	farewell := "id: 0.1.0\nevent: unsubscribed\ndata: " + `{"type":"unsubscribed","session_id":"s1",`
	for name, c := range map[string]struct {
		refuse func(*session)
		rest   string
	}{
		"unauthorized": {refuse(401), farewell + `"reason":"token_expired","status":401}` + "\n\n"},
		"forbidden":    {refuse(403), farewell + `"reason":"revoked","status":403}` + "\n\n"},
		"gone":         {refuse(404), ""},
		"broken":       {func(s *session) { s.send(`{"message":"Internal server error"}`) }, ""},
		"busy":         {refuse(429), ""},
	} {
		t.Run("one that stays "+name+" ends the stream in order", func(t *testing.T) {
			a := open(t, newAPI(t, func(s *session) {
				if s.number == 1 {
					s.subscribed()
					s.item("0.1.0", "0.0.0", "completed")
					return
				}
				c.refuse(s)
				s.untilClosed()
			}), newEvent())
			a.next()
			a.ids(1)
			want(t, a.rest(), c.rest)
		})
	}
}

func TestRefusals(t *testing.T) {
	refused := func(status int, detail string) func(*session) {
		return func(s *session) {
			s.send(`{"type":"error","request_id":"stream","status":%d,"title":"x","detail":%q}`, status, detail)
			s.untilClosed()
		}
	}
	unread := func(s *session) { s.t.Error("it was asked for a subscription") }
	expired, stranger, nobody, tokenless := newEvent(), newEvent(), newEvent(), newEvent()
	expired.RequestContext.Authorizer["exp"] = fmt.Sprint(time.Now().Add(-time.Second).Unix())
	stranger.Headers["authorization"] = "Bearer bad"
	nobody.RequestContext.Authorizer = nil
	tokenless.Headers = nil
	noID := newEvent()
	noID.PathParameters["session_id"] = "a%2Fb"
	lastID := newEvent()
	lastID.Headers["Last-Event-ID"] = "7"
	two := newEvent()
	two.MultiValueQueryStringParameters = map[string][]string{"cursor": {"0.1.0"}, "last_activity_id": {"e"}}
	for name, c := range map[string]struct {
		play   func(*session)
		event  events.APIGatewayProxyRequest
		status int
		detail string
	}{
		"a session that is not there":       {refused(404, "session not found"), newEvent(), 404, "session not found"},
		"a session of somebody else":        {refused(403, "not yours"), newEvent(), 403, "not yours"},
		"too much at once":                  {refused(429, "busy"), newEvent(), 429, "busy"},
		"an answer that makes no sense":     {refused(1, "x"), newEvent(), 500, "x"},
		"a gateway that fails":              {func(s *session) { s.send(`{"message":"Internal server error"}`); s.untilClosed() }, newEvent(), 503, "watching is not possible right now"},
		"a websocket that closes":           {func(*session) {}, newEvent(), 503, "watching is not possible right now"},
		"a token that has expired":          {unread, expired, 401, "no identity: send a bearer token"},
		"nobody":                            {unread, nobody, 401, "no identity: send a bearer token"},
		"a token that the websocket denies": {unread, stranger, 401, "the token was refused"},
		"no token":                          {unread, tokenless, 400, "the request must carry one token"},
		"a session that is no id":           {unread, noID, 400, `session_id must not contain '/'`},
		"a cursor that is none":             {unread, mustPosition("cursor", "x"), 400, "cursor must be a cursor: epoch.seq.offset"},
		"an item that is no id":             {unread, mustPosition("last_item_id", ""), 400, "last_item_id must not be empty"},
		"a last event that is no cursor":    {unread, lastID, 400, "Last-Event-ID must be a cursor: epoch.seq.offset"},
		"two positions":                     {unread, two, 400, "last_activity_id must be absent beside cursor"},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, newAPI(t, c.play), c.event)
			var got struct{ Type, Detail, RequestID string }
			if err := json.Unmarshal([]byte(a.rest()), &got); err != nil {
				t.Fatal(err)
			}
			if a.Status != c.status || got.Detail != c.detail || got.Type != "about:blank" {
				t.Errorf("got %d %+v", a.Status, got)
			}
			if a.Headers["Content-Type"] != "application/problem+json" || a.Headers["Access-Control-Allow-Origin"] != "*" {
				t.Errorf("headers %v", a.Headers)
			}
		})
	}
	t.Run("a member of the message is a parameter here", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.send(`{"type":"error","request_id":"stream","status":422,"detail":"/cursor is odd","errors":[{"pointer":"/cursor","detail":"is odd"}]}`)
			s.untilClosed()
		}), newEvent())
		want(t, a.rest(), `{"detail":"cursor is odd","errors":[{"pointer":"cursor","detail":"is odd"}],`+
			`"request_id":"r1","status":422,"title":"Unprocessable Entity","type":"about:blank"}`)
	})
	t.Run("a websocket that nobody serves", func(t *testing.T) {
		c := newAPI(t, unread)
		c.URL = "ws://127.0.0.1:1/live"
		if a := open(t, c, newEvent()); a.Status != 503 || a.Headers["Retry-After"] != "1" {
			t.Errorf("got %d %v", a.Status, a.Headers)
		}
	})
	t.Run("a websocket that says nothing", func(t *testing.T) {
		c := newAPI(t, func(s *session) { s.untilClosed() })
		c.Answer = 50 * time.Millisecond
		if a := open(t, c, newEvent()); a.Status != 503 {
			t.Errorf("got %d", a.Status)
		}
	})
}
