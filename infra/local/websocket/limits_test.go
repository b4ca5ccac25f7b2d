package websocket_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/websocket"
)

func TestLimits(t *testing.T) {
	t.Run("accepts a frame of 32 KB and a message of 128 KB", func(t *testing.T) {
		s := start(t, setup{routes: []string{"$default"}})
		c := s.mustConnect(t, "/", nil)
		c.mustSend(t, strings.Repeat("x", 32<<10))
		if e := s.mustEvent(t, "$default"); len(e.Body) != 32<<10 {
			t.Errorf("got %d bytes", len(e.Body))
		}
		c.mustSendFrames(t, 4, 32<<10)
		if e := s.mustEvent(t, "$default"); len(e.Body) != 128<<10 {
			t.Errorf("got %d bytes", len(e.Body))
		}
	})
	for name, send := range map[string]func(*testing.T, client){
		"a larger frame":   func(t *testing.T, c client) { t.Helper(); c.mustSend(t, strings.Repeat("x", 32<<10+1)) },
		"a larger message": func(t *testing.T, c client) { t.Helper(); c.mustSendFrames(t, 5, 30<<10) },
	} {
		t.Run(name+" closes the connection with 1009", func(t *testing.T) {
			s := start(t, setup{routes: []string{"$default"}})
			c := s.mustConnect(t, "/", nil)
			send(t, c)
			if code := c.mustClose(t); code != ws.StatusMessageTooBig {
				t.Errorf("close code %d", code)
			}
			if e := s.mustEvent(t, "$disconnect"); e.RequestContext.DisconnectStatusCode != 1009 {
				t.Errorf("$disconnect got %d", e.RequestContext.DisconnectStatusCode)
			}
			if len(s.of("$default")) > 0 {
				t.Error("the message was passed on")
			}
		})
	}
	t.Run("closes the connection with 1007 for invalid UTF-8", func(t *testing.T) {
		c := start(t, setup{}).mustConnect(t, "/", nil)
		c.mustSend(t, "\xff")
		if code := c.mustClose(t); code != ws.StatusInvalidFramePayloadData {
			t.Errorf("code %d", code)
		}
	})
	for name, limits := range map[string]websocket.Limits{
		"an idle connection": {Idle: 30 * time.Millisecond},
		"an old connection":  {Lifetime: 30 * time.Millisecond},
	} {
		t.Run(name+" is closed", func(t *testing.T) {
			s := start(t, setup{limits: limits})
			if code := s.mustConnect(t, "/", nil).mustClose(t); code != ws.StatusGoingAway {
				t.Errorf("code %d", code)
			}
			if e := s.mustEvent(t, "$disconnect"); *e.RequestContext.DisconnectReason != "Going away" {
				t.Errorf("reason %q", *e.RequestContext.DisconnectReason)
			}
		})
	}
	t.Run("pings and messages in both directions keep a connection active", func(t *testing.T) {
		s := start(t, setup{routes: []string{"$default"}})
		c := s.mustConnect(t, "/", nil)
		go func() { // pongs are only handled while reading
			for {
				if _, _, err := c.Read(t.Context()); err != nil {
					return
				}
			}
		}()
		for name, act := range map[string]func() error{
			"a ping":           func() error { return c.Ping(t.Context()) },
			"a message":        func() error { return c.Write(t.Context(), ws.MessageText, []byte("x")) },
			"a posted message": func() error { return s.post(t, c.id, []byte("x")) },
		} {
			before := s.mustActive(t, c.id)
			if err := act(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(patience); !s.mustActive(t, c.id).After(before); {
				if time.Now().After(deadline) {
					t.Fatalf("%s does not count as activity", name)
				}
			}
		}
	})
}

// mustActive returns the time of the connection's last activity.
func (s *system) mustActive(t *testing.T, id string) time.Time {
	t.Helper()
	out, err := s.client.GetConnection(t.Context(), &apigatewaymanagementapi.GetConnectionInput{ConnectionId: &id})
	if err != nil {
		t.Fatal(err)
	}
	return *out.LastActiveAt
}

// mustSendFrames sends one message in several frames.
func (c client) mustSendFrames(t *testing.T, frames, size int) {
	t.Helper()
	w, err := c.Writer(t.Context(), ws.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	for range frames {
		if _, err := w.Write(bytes.Repeat([]byte("x"), size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil && t.Context().Err() == nil {
		t.Logf("close: %v", err) // the gateway may have disconnected
	}
}

func TestDisconnect(t *testing.T) {
	for _, test := range []struct {
		name   string
		leave  func(client)
		code   int64
		reason string
	}{
		{"passes on the client's close code and reason", func(c client) { _ = c.Close(4001, "bye") }, 4001, "bye"},
		{"reports a close frame without a status", func(c client) { _ = c.Close(ws.StatusNoStatusRcvd, "") }, 1005, "Client-side close frame status not set"},
		{"reports a broken connection as abnormal", func(c client) { _ = c.CloseNow() }, 1006, "Connection Closed Abnormally"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, setup{})
			c := s.mustConnect(t, "/", nil)
			test.leave(c)
			ctx := s.mustEvent(t, "$disconnect").RequestContext
			if ctx.EventType != "DISCONNECT" || ctx.ConnectionID != c.id || ctx.DisconnectStatusCode != test.code ||
				ctx.DisconnectReason == nil || *ctx.DisconnectReason != test.reason {
				t.Errorf("got %+v", ctx)
			}
		})
	}
	t.Run("closing the API closes every connection cleanly", func(t *testing.T) {
		s := start(t, setup{})
		c := s.mustConnect(t, "/", nil)
		closed := make(chan error)
		go func() {
			_, _, err := c.Read(t.Context())
			closed <- err
		}()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		s.api.Close(ctx)
		if code := ws.CloseStatus(<-closed); code != ws.StatusGoingAway {
			t.Errorf("code %d", code)
		}
		if len(s.of("$disconnect")) != 1 {
			t.Error("no $disconnect")
		}
	})
}
