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
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/a2a"
)

// Who may hear of a session no longer is told so, and nothing is tried again.
func TestStreamOfWhoMayListenNoLonger(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason error
		want   error
	}{
		"because the right was taken back": {fault.NotYours("session"), lib.ErrTaskNotFound},
		"because the token has ended":      {fault.New(fault.Unauthorized, "the token has expired"), lib.ErrUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, (*newsroom).tell)
			heard := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
			w := r.mustWork(t)
			r.news.mustBeHeard(t)
			w.says(t, "half")
			heard.until(t, "half")
			opened := r.news.connections()
			r.news.close(test.reason)
			<-heard.over
			if !errors.Is(heard.err, test.want) {
				t.Errorf("it ends with %v", heard.err)
			}
			if n := r.news.connections(); n != opened {
				t.Errorf("%d more connections were tried", n-opened)
			}
		})
	}
}

// What the WebSocket API says of the caller is a fault.
func TestSocket(t *testing.T) {
	t.Parallel()
	farewell := func(r watch.Reason) string { return string(watch.NewUnsubscribedNotice("s", r).Frame()) }
	refuse := func(status int) string {
		return fmt.Sprintf(`{"type":"error","request_id":"stream","session_id":"s","status":%d,"detail":"no"}`, status)
	}
	subscribed := `{"type":"subscribed","request_id":"stream","session_id":"s"}`
	for name, test := range map[string]struct {
		frames []string
		want   fault.Kind // 0 for what is worth another try
	}{
		"revoked":      {[]string{subscribed, farewell(watch.ReasonRevoked)}, fault.Forbidden},
		"expired":      {[]string{subscribed, farewell(watch.ReasonExpired)}, fault.Forbidden},
		"a late token": {[]string{subscribed, farewell(watch.ReasonToken)}, fault.Unauthorized},
		"forbidden":    {[]string{refuse(http.StatusForbidden)}, fault.Forbidden},
		"not there":    {[]string{refuse(http.StatusNotFound)}, fault.NotFound},
		"busy":         {[]string{refuse(http.StatusTooManyRequests)}, 0},
		"broken":       {[]string{subscribed}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			news, err := a2a.Socket(serveFrames(t, test.frames), http.DefaultClient)(t.Context(), "token", "s", watch.Cursor{})
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

// serveFrames serves a WebSocket API that answers an action with these frames,
// and closes.
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
