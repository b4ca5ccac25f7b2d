package connections_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/rethread/rethread/shared/client/connections"
	"github.com/rethread/rethread/shared/domain/watch"
)

const connection = "JKJaXfcWvHcCFHg="

// gateway emulates the @connections API.
type gateway struct {
	*connections.Pusher

	requests atomic.Int64
	mu       sync.Mutex
	seen     []string
}

func newGateway(t *testing.T, timeout time.Duration, answer func(try int64, w http.ResponseWriter, r *http.Request)) *gateway {
	t.Helper()
	g := &gateway{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		g.mu.Lock()
		g.seen = append(g.seen, r.Method+" "+r.URL.EscapedPath()+" "+string(body))
		g.mu.Unlock()
		answer(g.requests.Add(1), w, r)
	}))
	t.Cleanup(server.Close)
	g.Pusher = connections.New(aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		HTTPClient: server.Client(),
	}, server.URL+"/live", timeout)
	return g
}

func refuse(w http.ResponseWriter, status int, kind string) {
	w.Header().Set("X-Amzn-Errortype", kind)
	w.WriteHeader(status)
}

func TestPush(t *testing.T) {
	t.Run("posts a message to the connection", func(t *testing.T) {
		g := newGateway(t, 0, func(int64, http.ResponseWriter, *http.Request) {})
		if err := g.Push(t.Context(), connection, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if want := "POST /live/@connections/JKJaXfcWvHcCFHg%3D hello"; g.seen[0] != want {
			t.Errorf("got %q, want %q", g.seen[0], want)
		}
	})
	for kind, c := range map[string]struct {
		status int
		want   error
	}{
		"GoneException":          {http.StatusGone, watch.ErrGone},
		"LimitExceededException": {http.StatusTooManyRequests, watch.ErrThrottled},
		"ThrottlingException":    {http.StatusTooManyRequests, watch.ErrThrottled},
	} {
		t.Run(kind+" is returned without a retry", func(t *testing.T) {
			g := newGateway(t, 0, func(_ int64, w http.ResponseWriter, _ *http.Request) { refuse(w, c.status, kind) })
			if err := g.Push(t.Context(), connection, []byte("x")); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if n := g.requests.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
	t.Run("returns a refusal without a retry", func(t *testing.T) {
		g := newGateway(t, 0, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusForbidden, "ForbiddenException")
		})
		err := g.Push(t.Context(), connection, []byte("x"))
		if err == nil || errors.Is(err, watch.ErrGone) || errors.Is(err, watch.ErrThrottled) || g.requests.Load() != 1 {
			t.Errorf("got %v after %d requests", err, g.requests.Load())
		}
	})
	t.Run("retries when the gateway fails", func(t *testing.T) {
		g := newGateway(t, 0, func(try int64, w http.ResponseWriter, _ *http.Request) {
			if try == 1 {
				refuse(w, http.StatusServiceUnavailable, "ServiceUnavailableException")
			}
		})
		if err := g.Push(t.Context(), connection, []byte("x")); err != nil || g.requests.Load() != 2 {
			t.Errorf("got %v after %d requests", err, g.requests.Load())
		}
	})
	t.Run("returns an error after three attempts", func(t *testing.T) {
		g := newGateway(t, 0, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusInternalServerError, "InternalServerErrorException")
		})
		if err := g.Push(t.Context(), connection, []byte("x")); err == nil || g.requests.Load() != 3 {
			t.Errorf("got %v after %d requests", err, g.requests.Load())
		}
	})
	t.Run("abandons a gateway that does not answer", func(t *testing.T) {
		stop := make(chan struct{})
		g := newGateway(t, 30*time.Millisecond, func(_ int64, _ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		})
		t.Cleanup(func() { close(stop) })
		if err := g.Push(t.Context(), connection, []byte("x")); err == nil {
			t.Error("it went well")
		}
	})
}

func TestClose(t *testing.T) {
	t.Run("deletes the connection", func(t *testing.T) {
		g := newGateway(t, 0, func(_ int64, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
		if err := g.Close(t.Context(), connection); err != nil {
			t.Fatal(err)
		}
		if want := "DELETE /live/@connections/JKJaXfcWvHcCFHg%3D "; g.seen[0] != want {
			t.Errorf("got %q, want %q", g.seen[0], want)
		}
	})
	t.Run("succeeds if the connection is gone", func(t *testing.T) {
		g := newGateway(t, 0, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusGone, "GoneException")
		})
		if err := g.Close(t.Context(), connection); err != nil {
			t.Error(err)
		}
	})
	t.Run("returns a failure", func(t *testing.T) {
		g := newGateway(t, 0, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusTooManyRequests, "LimitExceededException")
		})
		if err := g.Close(t.Context(), connection); !errors.Is(err, watch.ErrThrottled) {
			t.Errorf("got %v", err)
		}
	})
}
