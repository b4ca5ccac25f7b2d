package a2a_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/coder/websocket"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/follow"
)

// A stream ends with an error, and without another try, when its caller may not
// watch any longer.
func TestStreamEndsWithPermission(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason error
		want   error
	}{
		"a revoked permission": {fault.NotYours("session"), lib.ErrTaskNotFound},
		"an expired token":     {fault.New(fault.Unauthorized, "the token has expired"), lib.ErrUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, (*fakeFanOut).send)
			received := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
			w := r.mustWork(t)
			r.fanOut.mustHaveConnection(t)
			w.write(t, "half")
			received.untilText(t, "half")
			opened := r.fanOut.count()
			r.fanOut.close(test.reason)
			<-received.over
			if !errors.Is(received.err, test.want) {
				t.Errorf("the stream ends with %v", received.err)
			}
			if n := r.fanOut.count(); n != opened {
				t.Errorf("%d more connections were opened", n-opened)
			}
		})
	}
}

// Answers of the WebSocket API about the caller become faults.
func TestSocket(t *testing.T) {
	t.Parallel()
	notice := func(r watch.Reason) string { return string(watch.NewUnsubscribedNotice("s", r).Frame()) }
	refuse := func(status int) string {
		return fmt.Sprintf(`{"type":"error","request_id":"stream","session_id":"s","status":%d,"detail":"no"}`, status)
	}
	subscribed := `{"type":"subscribed","request_id":"stream","session_id":"s"}`
	for name, test := range map[string]struct {
		frames []string
		want   fault.Kind // 0 for an error after which another try may succeed
	}{
		"revoked":      {[]string{subscribed, notice(watch.ReasonRevoked)}, fault.Forbidden},
		"expired":      {[]string{subscribed, notice(watch.ReasonExpired)}, fault.Forbidden},
		"a late token": {[]string{subscribed, notice(watch.ReasonToken)}, fault.Unauthorized},
		"forbidden":    {[]string{refuse(http.StatusForbidden)}, fault.Forbidden},
		"not found":    {[]string{refuse(http.StatusNotFound)}, fault.NotFound},
		"busy":         {[]string{refuse(http.StatusTooManyRequests)}, 0},
		"broken":       {[]string{subscribed}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			news, err := follow.Socket(serveFrames(t, test.frames), http.DefaultClient)(t.Context(), access.Caller{Token: "token"}, "s", watch.Cursor{})
			if err == nil {
				_, err = news.Next(t.Context())
				news.Close()
			}
			var f *fault.Error
			if errors.As(err, &f) != (test.want != 0) || (test.want != 0 && f.Kind != test.want) {
				t.Errorf("got %v", err)
			}
			if err == nil {
				t.Error("it brings a message")
			}
		})
	}
}

// serveFrames serves a WebSocket API that answers an action with these frames
// and closes the connection.
func serveFrames(t *testing.T, frames []string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(rw, r, &websocket.AcceptOptions{Subprotocols: []string{"rethread.v1"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow() //nolint:errcheck // the other side may have closed it
		if _, action, err := conn.Read(r.Context()); err != nil || !json.Valid(action) {
			t.Errorf("asked %s, %v", action, err)
		}
		for _, frame := range frames {
			if err := conn.Write(r.Context(), websocket.MessageText, []byte(frame)); err != nil {
				t.Error(err)
			}
		}
		_ = conn.Close(websocket.StatusNormalClosure, "") // the other side may have closed it
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http:", "ws:", 1)
}
