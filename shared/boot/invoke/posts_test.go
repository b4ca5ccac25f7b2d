package invoke_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/domain/watch"
)

// hall is the connections of a part of a crowd.
type hall struct{ got []string }

func (h *hall) Push(_ context.Context, connection string, message []byte) error {
	switch connection {
	case "gone":
		return watch.ErrGone
	case "broken":
		return errors.New("broken")
	}
	h.got = append(h.got, connection+" "+string(message))
	return nil
}

func (h *hall) Close(context.Context, string) error { return errors.New("broken too") }

// A part is posted by another function, whose answer comes back.
func TestPostedBy(t *testing.T) {
	to, throttled, asked := &hall{}, false, ""
	post := boot.Post(watch.NewPoster(to, slog.New(slog.DiscardHandler)))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		asked = req.URL.Path
		if throttled {
			rw.WriteHeader(http.StatusTooManyRequests)
			return
		}
		body, err := io.ReadAll(req.Body)
		var part watch.Part
		if err := errors.Join(err, json.Unmarshal(body, &part)); err != nil {
			t.Error(err)
		}
		posted, err := post(req.Context(), part)
		if err != nil {
			rw.Header().Set("X-Amz-Function-Error", "Unhandled")
		}
		if err := json.NewEncoder(rw).Encode(posted); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	by := invoke.PostedBy(lambda.New(lambda.Options{
		Region: "eu-central-1", BaseEndpoint: &server.URL, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}), "post")
	part := func(connections ...string) watch.Part {
		return watch.Part{Connections: connections, Frames: [][]byte{[]byte("hello")}}
	}
	t.Run("sends it, and returns who is gone", func(t *testing.T) {
		posted, err := by(t.Context(), part("a", "gone"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(watch.Posted{Gone: []string{"gone"}}, posted); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(to.got) != 1 || to.got[0] != "a hello" || asked != "/2015-03-31/functions/post/invocations" {
			t.Errorf("%s got %v", asked, to.got)
		}
	})
	t.Run("returns an error if a connection may lack a message", func(t *testing.T) {
		if _, err := by(t.Context(), part("broken")); err == nil {
			t.Error("no error")
		}
	})
	t.Run("does not hand over what Lambda would not take", func(t *testing.T) {
		asked = ""
		large := watch.Part{Connections: []string{"a"}, Frames: [][]byte{make([]byte, 5<<20)}}
		if _, err := by(t.Context(), large); err == nil || asked != "" {
			t.Errorf("%v, asked %q", err, asked)
		}
	})
	t.Run("returns an error when the function is throttled", func(t *testing.T) {
		throttled = true
		if _, err := by(t.Context(), part("a")); err == nil {
			t.Error("no error")
		}
	})
	t.Run("returns an error when no function is configured", func(t *testing.T) {
		if _, err := invoke.PostedBy(nil, "")(t.Context(), part("a")); err == nil || !strings.Contains(err.Error(), "POST_FUNCTION") {
			t.Errorf("got %v", err)
		}
	})
}
