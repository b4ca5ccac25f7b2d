package watch_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
)

func TestAnInvalidConfigurationEndsWatch(t *testing.T) {
	t.Parallel()
	token := rethread.StaticToken("token")
	for name, c := range map[string]watch.Config{
		"no token":   {URL: "http://127.0.0.1/api/v1", WSURL: "ws://127.0.0.1"},
		"no address": {WSURL: "ws://127.0.0.1", Token: token},
		"no scheme":  {URL: "http://127.0.0.1/api/v1", WSURL: "127.0.0.1:3001", Token: token},
		"no host":    {URL: "http://127.0.0.1/api/v1", WSURL: "ws:///v1", Token: token},
		"a token that cannot be sent": {
			URL: "http://127.0.0.1/api/v1", WSURL: "ws://127.0.0.1",
			Token: rethread.StaticToken("secret\n"),
		},
	} {
		client := watch.Open(t.Context(), c)
		if err := client.Watch(t.Context(), "s", func(view.Session) {}); err == nil {
			t.Errorf("%s: it was watched", name)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		client.Close()
	}
}

// TestADeploymentThatNamesNoSocketEndsWatch asks a server that has no document with
// addresses.
func TestADeploymentThatNamesNoSocketEndsWatch(t *testing.T) {
	t.Parallel()
	thread := make(chan struct{}) // is never answered
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1" {
			select {
			case <-thread:
			case <-r.Context().Done():
			}
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	client := watch.Open(t.Context(), watch.Config{URL: server.URL, Token: rethread.StaticToken("token")})
	defer client.Close()
	if err := client.Watch(t.Context(), "s", func(view.Session) {}); !errors.Is(err, rethread.ErrInvalid) {
		t.Errorf("watching ends with %v", err)
	}
	close(thread)
}

// TestARejectedTokenIsReplaced opens a websocket with a token that the server rejects.
func TestARejectedTokenIsReplaced(t *testing.T) {
	t.Parallel()
	used, asked := make(chan string, 10), make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := r.URL.Query().Get("token"); token != "" {
			used <- token
			http.Error(w, "no", http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	client := watch.Open(t.Context(), watch.Config{
		URL: server.URL, WSURL: "ws" + strings.TrimPrefix(server.URL, "http"),
		Token: func(_ context.Context, rejected string) (string, error) {
			asked <- rejected
			return "after-" + rejected, nil
		},
	})
	defer client.Close()
	for _, want := range []string{"", "after-", "after-after-"} {
		if got := <-asked; got != want {
			t.Errorf("asked for another token than %q, want %q", got, want)
		}
		if got := <-used; got != "after-"+want {
			t.Errorf("connected with %q", got)
		}
	}
}
