package websocket_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	ws "github.com/coder/websocket"
)

func TestRoute(t *testing.T) {
	s := start(t, setup{routes: []string{"subscribe", "7", "$default"}})
	c := s.mustConnect(t, "/", nil)
	for _, test := range []struct{ name, message, route string }{
		{"routes by the message's action", `{"action":"subscribe","x":1}`, "subscribe"},
		{"accepts a number as the action", `{"action":7}`, "7"},
		{"uses $default for an unknown action", `{"action":"other"}`, "$default"},
		{"uses $default for a message without an action", `{"a":1}`, "$default"},
		{"uses $default for invalid JSON", `hello`, "$default"},
		{"ignores route keys of the gateway itself", `{"action":"$connect"}`, "$default"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.mustSend(t, test.message)
			e := s.mustEvent(t, test.route)
			ctx := e.RequestContext
			if e.Body != test.message || e.IsBase64Encoded || ctx.RouteKey != test.route || ctx.EventType != "MESSAGE" ||
				ctx.ConnectionID != c.id || ctx.MessageID == nil || e.Headers != nil {
				t.Errorf("got %+v", e)
			}
		})
	}
	t.Run("passes a binary message in base64", func(t *testing.T) {
		if err := c.Write(t.Context(), ws.MessageBinary, []byte{0xff}); err != nil {
			t.Fatal(err)
		}
		if e := s.mustEvent(t, "$default"); e.Body != "/w==" || !e.IsBase64Encoded {
			t.Errorf("got %+v", e)
		}
	})
}

func TestRouteFails(t *testing.T) {
	for _, test := range []struct {
		name     string
		function func(context.Context, event) (string, error)
		want     string
	}{
		{"returns Forbidden without a matching route", nil, "Forbidden"},
		{"reports a failed function", func(context.Context, event) (string, error) { return "", &functionError{"oh"} }, "Internal server error"},
		{"reports a function that cannot run", func(context.Context, event) (string, error) { return "", errors.New("throttled") }, "Internal server error"},
		{"reports an answer without a status", func(context.Context, event) (string, error) { return `null`, nil }, "Internal server error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := setup{functions: map[string]func(context.Context, event) (string, error){}}
			if test.function != nil {
				given.routes = []string{"act"}
				given.functions["act"] = test.function
			}
			c := start(t, given).mustConnect(t, "/", nil)
			c.mustSend(t, `{"action":"act"}`)
			var got map[string]string
			if err := json.Unmarshal([]byte(c.mustRead(t)), &got); err != nil {
				t.Fatal(err)
			}
			if got["message"] != test.want || got["connectionId"] != c.id || got["requestId"] == "" {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestParallel(t *testing.T) {
	release := make(chan struct{})
	wait := func(context.Context, event) (string, error) {
		<-release
		return `{"statusCode":200}`, nil
	}
	given := setup{routes: []string{"$default"}, functions: map[string]func(context.Context, event) (string, error){"$default": wait}}
	given.limits.Parallel = 2
	s := start(t, given)
	c := s.mustConnect(t, "/", nil)
	for range 3 {
		c.mustSend(t, "x")
	}
	s.mustEvent(t, "$default")
	s.mustEvent(t, "$default")
	select {
	case <-s.of("$default"):
		t.Error("a third message was processed concurrently, the limit is two")
	default:
	}
	close(release)
	s.mustEvent(t, "$default")
}
