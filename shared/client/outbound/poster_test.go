package outbound_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/domain/delivery"
)

func TestPost(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		status int
		after  string
		want   delivery.Answer
	}{
		"a success":                         {status: 204, want: delivery.Answer{Status: 204}},
		"a redirect, which is not followed": {status: 307, want: delivery.Answer{Status: 307}},
		"seconds to wait":                   {status: 429, after: "7", want: delivery.Answer{Status: 429, RetryAfter: 7 * time.Second}},
		"a date to wait for": {
			status: 503, after: "Sat, 21 Nov 2026 12:01:00 GMT", want: delivery.Answer{Status: 503, RetryAfter: time.Minute},
		},
		"a date in the past": {status: 503, after: "Sat, 21 Nov 2026 11:00:00 GMT", want: delivery.Answer{Status: 503}},
		"an invalid wait":    {status: 503, after: "soon", want: delivery.Answer{Status: 503}},
		"a negative wait":    {status: 503, after: "-1", want: delivery.Answer{Status: 503}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got, body string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got, body = r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Own"), string(text)
				w.Header().Set("Location", "http://127.0.0.1:1/")
				if test.after != "" {
					w.Header().Set("Retry-After", test.after)
				}
				w.WriteHeader(test.status)
			}))
			defer server.Close()
			p := outbound.NewPoster(outbound.New(outbound.Options{AllowLoopback: true}).Client(), func() time.Time { return now })
			answer, err := p.Post(t.Context(), delivery.Message{
				URL: server.URL + "/hook", Header: map[string]string{"X-Own": "mine"}, Body: []byte("{}"),
			})
			if diff := cmp.Diff(test.want, answer); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if got != "POST /hook mine" || body != "{}" {
				t.Errorf("received %s %s", got, body)
			}
		})
	}
	t.Run("refuses a forbidden address permanently", func(t *testing.T) {
		t.Parallel()
		p := outbound.NewPoster(outbound.New(outbound.Options{}).Client(), time.Now)
		for _, url := range []string{"https://127.0.0.1:1/", "https://169.254.169.254/", "http://example.com/", "://", "https://a b/"} {
			if _, err := p.Post(t.Context(), delivery.Message{URL: url}); !errors.Is(err, delivery.ErrRefused) {
				t.Errorf("%s: %v", url, err)
			}
		}
	})
	t.Run("returns a temporary error if the receiver does not answer", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		p := outbound.NewPoster(outbound.New(outbound.Options{AllowLoopback: true}).Client(), time.Now)
		_, err := p.Post(t.Context(), delivery.Message{URL: server.URL})
		if err == nil || errors.Is(err, delivery.ErrRefused) {
			t.Errorf("got %v", err)
		}
	})
}
