package websocket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	"github.com/aws/smithy-go"
	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/websocket"
)

func TestManage(t *testing.T) {
	s := start(t, setup{throttle: func(string) bool { return false }})
	t.Run("delivers posted messages in order", func(t *testing.T) {
		c := s.mustConnect(t, "/", nil)
		for i := range 50 {
			if err := s.post(t, c.id, fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 50 {
			if got := c.mustRead(t); got != fmt.Sprint(i) {
				t.Fatalf("got %s, want %d", got, i)
			}
		}
	})
	t.Run("accepts posts below the stage's path", func(t *testing.T) {
		c := s.mustConnect(t, "/", nil)
		client := apigatewaymanagementapi.New(s.client.Options(), func(o *apigatewaymanagementapi.Options) {
			url := s.url + "/live"
			o.BaseEndpoint = &url
		})
		_, err := client.PostToConnection(t.Context(), &apigatewaymanagementapi.PostToConnectionInput{ConnectionId: &c.id, Data: []byte("hi")})
		if err != nil || c.mustRead(t) != "hi" {
			t.Error(err)
		}
	})
	t.Run("refuses messages over 128 KB", func(t *testing.T) {
		c := s.mustConnect(t, "/", nil)
		if err := s.post(t, c.id, bytes.Repeat([]byte("x"), 128<<10)); err != nil || len(c.mustRead(t)) != 128<<10 {
			t.Error(err)
		}
		var tooLarge *types.PayloadTooLargeException
		if err := s.post(t, c.id, bytes.Repeat([]byte("x"), 128<<10+1)); !errors.As(err, &tooLarge) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("describes a connection", func(t *testing.T) {
		began := time.Now()
		c := s.mustConnect(t, "/", http.Header{"User-Agent": {"test"}})
		out, err := s.client.GetConnection(t.Context(), &apigatewaymanagementapi.GetConnectionInput{ConnectionId: &c.id})
		if err != nil {
			t.Fatal(err)
		}
		if *out.Identity.SourceIp != "127.0.0.1" || *out.Identity.UserAgent != "test" || out.ConnectedAt.Before(began.Add(-time.Second)) ||
			out.LastActiveAt.Before(*out.ConnectedAt) {
			t.Errorf("got %+v %+v", out, out.Identity)
		}
	})
	t.Run("DELETE closes the connection after the posted messages", func(t *testing.T) {
		c := s.mustConnect(t, "/", nil)
		if err := s.post(t, c.id, []byte("last")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.client.DeleteConnection(t.Context(), &apigatewaymanagementapi.DeleteConnectionInput{ConnectionId: &c.id}); err != nil {
			t.Fatal(err)
		}
		wantGoneException(t, s.post(t, c.id, []byte("late")))
		if got := c.mustRead(t); got != "last" {
			t.Errorf("got %q", got)
		}
		if code := c.mustClose(t); code != ws.StatusNormalClosure {
			t.Errorf("code %d", code)
		}
		s.mustEvent(t, "$disconnect")
	})
	t.Run("returns 410 for a closed connection", func(t *testing.T) {
		c := s.mustConnect(t, "/", nil)
		_ = c.Close(ws.StatusNormalClosure, "")
		for s.mustEvent(t, "$disconnect").RequestContext.ConnectionID != c.id {
			continue // the disconnect of an earlier client
		}
		wantGoneException(t, s.post(t, c.id, []byte("x")))
	})
	t.Run("returns 400 for an invalid id", func(t *testing.T) {
		var failed smithy.APIError
		if err := s.post(t, "nobody", []byte("x")); !errors.As(err, &failed) || failed.ErrorCode() != "BadRequestException" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("refuses an unsigned request", func(t *testing.T) {
		resp, err := http.Post(s.url+"/@connections/x", "", strings.NewReader("x")) //nolint:noctx // a test's own server
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden || resp.Header.Get("X-Amzn-Errortype") != "ForbiddenException" {
			t.Errorf("got %d %v", resp.StatusCode, resp.Header)
		}
	})
	t.Run("returns 410 for a post during $connect", func(t *testing.T) {
		var early *system
		found := make(chan error, 1)
		early = start(t, setup{functions: map[string]func(context.Context, event) (string, error){
			"$connect": func(_ context.Context, e event) (string, error) {
				found <- early.post(t, e.RequestContext.ConnectionID, []byte("x")) //nolint:contextcheck // the test's own
				return `{"statusCode":200}`, nil
			},
		}})
		early.mustConnect(t, "/", nil)
		wantGoneException(t, <-found)
	})
}

func TestThrottle(t *testing.T) {
	s := start(t, setup{throttle: func(string) bool { return true }})
	wantLimitExceeded(t, s.post(t, s.mustConnect(t, "/", nil).id, []byte("x")))
}

func TestSlowClient(t *testing.T) {
	message := bytes.Repeat([]byte("x"), 128<<10)
	// postUntil posts to a client that does not read until a post is refused as
	// expected.
	postUntil := func(t *testing.T, s *system, id string, refused func(error) bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); !refused(s.post(t, id, message)); {
			if time.Now().After(deadline) {
				t.Fatal("posts are still accepted")
			}
		}
	}
	t.Run("refuses posts when too many messages are waiting, for that client only", func(t *testing.T) {
		s := start(t, setup{limits: websocket.Limits{Waiting: 4}})
		slow, other := s.mustConnect(t, "/", nil), s.mustConnect(t, "/", nil)
		postUntil(t, s, slow.id, func(err error) bool {
			var limited *types.LimitExceededException
			return errors.As(err, &limited)
		})
		if err := s.post(t, other.id, []byte("hi")); err != nil || other.mustRead(t) != "hi" {
			t.Error(err)
		}
	})
	t.Run("finally disconnects the client", func(t *testing.T) {
		s := start(t, setup{limits: websocket.Limits{Waiting: 4, Write: 50 * time.Millisecond}})
		slow := s.mustConnect(t, "/", nil)
		postUntil(t, s, slow.id, func(err error) bool {
			var gone *types.GoneException
			return errors.As(err, &gone)
		})
		s.mustEvent(t, "$disconnect")
	})
}

func wantGoneException(t *testing.T, err error) {
	t.Helper()
	var gone *types.GoneException
	if !errors.As(err, &gone) {
		t.Errorf("got %v, want GoneException", err)
	}
}

func wantLimitExceeded(t *testing.T, err error) {
	t.Helper()
	var limited *types.LimitExceededException
	if !errors.As(err, &limited) {
		t.Errorf("got %v, want LimitExceededException", err)
	}
}
