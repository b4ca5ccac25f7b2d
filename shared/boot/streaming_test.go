package boot_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/boot"
)

// streamEvent is a request that the gateway has authorized.
func streamEvent(now time.Time) events.APIGatewayProxyRequest {
	return events.APIGatewayProxyRequest{
		HTTPMethod: http.MethodPost, Path: "/a2a/demo/message:send", Body: "aGk=", IsBase64Encoded: true,
		MultiValueHeaders:               map[string][]string{"authorization": {"Bearer abc"}, "Host": {"api.example"}},
		MultiValueQueryStringParameters: map[string][]string{"a": {"1 2"}},
		RequestContext: events.APIGatewayProxyRequestContext{
			Path:       "/live/a2a/demo/message:send",
			Authorizer: map[string]any{"sub": "alice", "exp": strconv.FormatInt(now.Add(time.Hour).Unix(), 10)},
		},
	}
}

func TestStreaming(t *testing.T) {
	now := time.Now()
	invoke := func(t *testing.T, h http.HandlerFunc) *events.APIGatewayProxyStreamingResponse {
		t.Helper()
		answer, err := boot.Streaming(h, slog.New(slog.DiscardHandler), time.Now)(t.Context(), streamEvent(now))
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	t.Run("passes the complete request", func(t *testing.T) {
		answer := invoke(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || string(body) != "hi" || r.URL.Path != "/a2a/demo/message:send" || r.FormValue("a") != "1 2" {
				t.Errorf("got %s %s %q", r.Method, r.URL, body)
			}
			w.Header().Set("X-A", "b")
			w.WriteHeader(http.StatusAccepted)
		})
		if answer.StatusCode != http.StatusAccepted || answer.Headers["X-A"] != "b" {
			t.Errorf("got %+v", answer)
		}
	})
	t.Run("starts the response with its first byte", func(t *testing.T) {
		next := make(chan struct{})
		answer := invoke(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("one"))
			<-next
			_, _ = w.Write([]byte("two"))
		})
		first := make([]byte, 3)
		if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "one" {
			t.Fatalf("got %q, %v", first, err)
		}
		close(next)
		if rest, err := io.ReadAll(answer.Body); err != nil || string(rest) != "two" {
			t.Errorf("got %q, %v", rest, err)
		}
	})
	t.Run("ends the request when the reader leaves", func(t *testing.T) {
		ended := make(chan error, 1)
		answer := invoke(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			<-r.Context().Done()
			ended <- r.Context().Err()
		})
		closer, ok := answer.Body.(io.Closer)
		if !ok {
			t.Fatal("the body cannot be closed")
		}
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("returns 500 on a panic", func(t *testing.T) {
		answer := invoke(t, func(http.ResponseWriter, *http.Request) { panic("no") })
		if answer.StatusCode != http.StatusInternalServerError {
			t.Errorf("got %d", answer.StatusCode)
		}
	})
}
