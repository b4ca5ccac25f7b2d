package sse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/transport/gateway"
)

func want(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStream(t *testing.T) {
	bubble(t, "turns messages into events", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.item("0.1.0", "0.0.0", "completed") // sent before the answer
			s.subscribed()
			s.endReplay("0.0.0", "idle")
			s.send(`{"type":"pong"}`)
			s.send(`{"type":"item.snapshot","session_id":"another","cursor":"0.9.0","prev":"0.8.0"}`)
			s.send("{\"type\":\"thread.status\",\n\"session_id\":\"s1\",\"cursor\":\"0.2.0\",\"prev\":\"0.1.0\",\"status\":\"idle\"}")
			s.untilClosed()
		}), newEvent())
		wantHeaders := map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
			"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": strings.Join(gateway.Exposed(), ", "),
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
	bubble(t, "forwards messages of types it does not know, in order", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.subscribed()
			s.message("thread.archived", "0.1.0", "0.0.0")
			s.endReplay("0.1.0", "idle")
			s.item("0.3.0", "0.2.0", "completed") // waits
			s.message("thread.named", "0.2.0", "0.1.0")
			s.message("thread.named", "0.2.0", "0.1.0") // again
			s.untilClosed()
		}), newEvent())
		a.next()
		var got []string
		for range 4 {
			id, rest, _ := strings.Cut(a.next(), "\n")
			kind, _, _ := strings.Cut(rest, "\n")
			got = append(got, id+", "+kind)
		}
		want := []string{
			"id: 0.1.0, event: thread.archived", "id: 0.1.0, event: thread.status",
			"id: 0.2.0, event: thread.named", "id: 0.3.0, event: item.snapshot",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	bubble(t, "sends comments on an idle stream", func(t *testing.T) {
		c := newAPI(t, func(s *session) { s.subscribed(); s.untilClosed() })
		c.Heartbeat = time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		want(t, a.next(), ": ping")
		want(t, a.next(), ": ping")
	})
	bubble(t, "keeps the websocket alive", func(t *testing.T) {
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
			s.endReplay("0.1.0", "idle")
			<-read
		})
		c.Keepalive = time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		if diff := cmp.Diff([]string{"0.1.0"}, a.ids(1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	bubble(t, "replaces a websocket that does not answer pings", func(t *testing.T) {
		again := make(chan struct{})
		c := newAPI(t, func(s *session) {
			s.subscribed()
			if s.number == 1 {
				<-again
				return
			}
			close(again)
			s.endReplay("0.1.0", "idle")
			s.untilClosed()
		})
		c.Keepalive, c.Answer = 200*time.Millisecond, 300*time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		if diff := cmp.Diff([]string{"0.1.0"}, a.ids(1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	bubble(t, "ends the subscription when the reader leaves", func(t *testing.T) {
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
	bubble(t, "ends the subscription when a reader leaves that never read", func(t *testing.T) {
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
	bubble(t, "ends in order before Lambda's deadline", func(t *testing.T) {
		c := newAPI(t, func(s *session) { s.subscribed(); s.item("0.1.0", "0.0.0", "completed"); s.untilClosed() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c.Margin = 20 * time.Second
		began := time.Now()
		a := openWith(ctx, t, c, newEvent())
		if rest := a.rest(); !strings.HasSuffix(rest, "\n\n") || !strings.Contains(rest, "id: 0.1.0\n") {
			t.Errorf("got %q", rest)
		}
		if took := time.Since(began); took != 40*time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
	bubble(t, "ends when the token expires, and reports the reason", func(t *testing.T) {
		event, c := newEvent(), newAPI(t, func(s *session) { s.subscribed(); s.untilClosed() })
		event.RequestContext.Authorizer["exp"] = fmt.Sprint(time.Now().Add(3 * time.Second).Unix())
		want(t, open(t, c, event).rest(), "retry: 1000\n\nevent: unsubscribed\n"+
			`data: {"type":"unsubscribed","session_id":"s1","reason":"token_expired","status":401}`+"\n\n")
	})
	bubble(t, "ends when the token expires although nobody reads", func(t *testing.T) {
		event := newEvent()
		closed := make(chan struct{})
		c := newAPI(t, func(s *session) {
			defer close(closed)
			s.subscribed()
			s.item("0.1.0", "0.0.0", "completed")
			s.untilClosed()
		})
		event.RequestContext.Authorizer["exp"] = fmt.Sprint(time.Now().Add(3 * time.Second).Unix())
		open(t, c, event)
		<-closed
	})
	t.Run("ends for good when the caller may watch no longer", func(t *testing.T) {
		for name, notice := range map[string]string{
			"revoked":                         `{"type":"unsubscribed","session_id":"s1","reason":"revoked","status":403}`,
			"expired, with an unknown member": `{"type":"unsubscribed","session_id":"s1","reason":"expired","status":403,"more":1}`,
		} {
			bubble(t, name, func(t *testing.T) {
				a := open(t, newAPI(t, func(s *session) {
					if s.number > 1 {
						t.Error("the websocket was reopened")
					}
					s.subscribed()
					s.item("0.1.0", "0.0.0", "completed")
					s.send(`{"type":"unsubscribed","session_id":"s2","reason":"revoked","status":403}`)
					s.send("%s", notice)
					s.untilClosed()
				}), newEvent())
				a.next()
				a.ids(1)
				known := strings.Replace(notice, `,"more":1`, "", 1)
				want(t, a.rest(), "id: 0.1.0\nevent: unsubscribed\ndata: "+known+"\n\n")
			})
		}
	})
	bubble(t, "keeps messages that arrive before the answer", func(t *testing.T) {
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
	bubble(t, "sends nothing after the session was deleted", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.subscribed()
			s.item("0.1.0", "0.0.0", "completed")
			s.message("thread.deleted", "0.0.0", "0.0.0")
			s.message("thread.status", "0.2.0", "0.1.0")
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
	bubble(t, "reopens a disconnected websocket at the stream's position", func(t *testing.T) {
		actions := make(chan string, 3)
		a := open(t, newAPI(t, func(s *session) {
			actions <- s.action
			s.subscribed()
			switch s.number {
			case 1: // breaks at once
			case 2:
				s.item("0.4.2", "0.3.0", "in_progress")
				s.endReplay("0.4.2", "in_progress")
				s.message("item.delta", "0.4.3", "0.4.2")
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
	notice := "id: 0.1.0\nevent: unsubscribed\ndata: " + `{"type":"unsubscribed","session_id":"s1",`
	for name, c := range map[string]struct {
		refuse func(*session)
		rest   string
	}{
		"unauthorized": {refuse(401), notice + `"reason":"token_expired","status":401}` + "\n\n"},
		"forbidden":    {refuse(403), notice + `"reason":"revoked","status":403}` + "\n\n"},
		"gone":         {refuse(404), ""},
		"broken":       {func(s *session) { s.send(`{"message":"Internal server error"}`) }, ""},
		"busy":         {refuse(429), ""},
	} {
		bubble(t, "ends the stream in order if the websocket stays "+name, func(t *testing.T) {
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
	refused := func(status int, code, detail string) func(*session) {
		return func(s *session) {
			s.send(`{"type":"error","request_id":"stream","status":%d,"code":%q,"title":"x","detail":%q}`, status, code, detail)
			s.untilClosed()
		}
	}
	unread := func(s *session) { s.t.Error("unexpected subscription") }
	expired, stranger, nobody, tokenless := newEvent(), newEvent(), newEvent(), newEvent()
	noID, lastID, two := newEvent(), newEvent(), newEvent()
	expired.RequestContext.Authorizer["exp"] = "1"
	stranger.Headers["authorization"] = "Bearer bad"
	nobody.RequestContext.Authorizer = nil
	tokenless.Headers = nil
	noID.PathParameters["session_id"] = "a%2Fb"
	lastID.Headers["Last-Event-ID"] = "7"
	two.MultiValueQueryStringParameters = map[string][]string{"cursor": {"0.1.0"}, "last_activity_id": {"e"}}
	for name, c := range map[string]struct {
		play         func(*session)
		event        events.APIGatewayProxyRequest
		status       int
		code, detail string
	}{
		"an unknown session":                {refused(404, "session_not_found", "session not found"), newEvent(), 404, "session_not_found", "session not found"},
		"a session of another user":         {refused(403, "share_ended", "not yours"), newEvent(), 403, "share_ended", "not yours"},
		"a throttled subscription":          {refused(429, "", "busy"), newEvent(), 429, "rate_limited", "busy"},
		"an answer with an invalid status":  {refused(1, "", "x"), newEvent(), 500, "internal_error", "x"},
		"a gateway that fails":              {func(s *session) { s.send(`{"message":"Internal server error"}`); s.untilClosed() }, newEvent(), 503, "unavailable", "watching is not possible right now"},
		"a websocket that closes":           {func(*session) {}, newEvent(), 503, "unavailable", "watching is not possible right now"},
		"a token that has expired":          {unread, expired, 401, "unauthorized", "no identity: send a bearer token"},
		"no identity":                       {unread, nobody, 401, "unauthorized", "no identity: send a bearer token"},
		"a token that the websocket denies": {unread, stranger, 401, "unauthorized", "the token was refused"},
		"no token":                          {unread, tokenless, 400, "malformed_request", "the request must carry one token"},
		"an invalid session id":             {unread, noID, 400, "malformed_field", `session_id must not contain '/'`},
		"an invalid cursor":                 {unread, mustPosition("cursor", "x"), 400, "invalid_cursor", "cursor must be a cursor: epoch.seq.offset"},
		"an invalid item id":                {unread, mustPosition("last_item_id", ""), 400, "malformed_field", "last_item_id must not be empty"},
		"an invalid last event id":          {unread, lastID, 400, "invalid_cursor", "Last-Event-ID must be a cursor: epoch.seq.offset"},
		"two positions":                     {unread, two, 400, "malformed_field", "last_activity_id must be absent beside cursor"},
	} {
		bubble(t, name, func(t *testing.T) {
			a := open(t, newAPI(t, c.play), c.event)
			var got struct{ Type, Code, Detail, RequestID string }
			if err := json.Unmarshal([]byte(a.rest()), &got); err != nil {
				t.Fatal(err)
			}
			if a.Status != c.status || got.Detail != c.detail || got.Code != c.code || got.Type != problem.TypeOf(fault.Code(got.Code)) {
				t.Errorf("got %d %+v", a.Status, got)
			}
			if a.Headers["Content-Type"] != "application/problem+json" || a.Headers["Access-Control-Allow-Origin"] != "*" {
				t.Errorf("headers %v", a.Headers)
			}
		})
	}
	bubble(t, "reports a member of the message as a parameter", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.send(`{"type":"error","request_id":"stream","status":422,"detail":"/cursor is odd","errors":[{"pointer":"/cursor","detail":"is odd"}]}`)
			s.untilClosed()
		}), newEvent())
		want(t, a.rest(), `{"code":"invalid_field","detail":"cursor is odd","errors":[{"pointer":"cursor","detail":"is odd"}],`+
			`"request_id":"r1","status":422,"title":"Unprocessable Entity","type":"`+problem.TypeOf(fault.InvalidField)+`"}`)
	})
	bubble(t, "connects again if the gateway fails once", func(t *testing.T) {
		var connections atomic.Int64
		a := open(t, newAPI(t, func(s *session) {
			if connections.Add(1) == 1 {
				s.send(`{"message":"Internal server error"}`)
			} else {
				s.subscribed()
				s.endReplay("0.1.0", "idle")
			}
			s.untilClosed()
		}), newEvent())
		if a.Status != 200 || connections.Load() != 2 {
			t.Errorf("got %d after %d connections", a.Status, connections.Load())
		}
	})
	bubble(t, "does not connect again if the subscription is refused", func(t *testing.T) {
		var connections atomic.Int64
		play := refused(404, "session_not_found", "session not found")
		a := open(t, newAPI(t, func(s *session) { connections.Add(1); play(s) }), newEvent())
		if a.Status != 404 || connections.Load() != 1 {
			t.Errorf("got %d after %d connections", a.Status, connections.Load())
		}
	})
	bubble(t, "returns 503 if the websocket cannot be reached", func(t *testing.T) {
		c := newAPI(t, unread)
		c.Client = &http.Client{Transport: unreachable{}}
		if a := open(t, c, newEvent()); a.Status != 503 || a.Headers["Retry-After"] != "1" {
			t.Errorf("got %d %v", a.Status, a.Headers)
		}
	})
	bubble(t, "returns 503 if the websocket does not answer", func(t *testing.T) {
		c := newAPI(t, func(s *session) { s.untilClosed() })
		c.Answer = 50 * time.Millisecond
		if a := open(t, c, newEvent()); a.Status != 503 {
			t.Errorf("got %d", a.Status)
		}
	})
}
