package watch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
)

func TestAnInvalidConfigurationEndsWatch(t *testing.T) {
	t.Parallel()
	token := func(context.Context) (string, error) { return "token", nil }
	for name, c := range map[string]watch.Config{
		"no token":   {HTTPURL: "http://127.0.0.1/api/v1", WSURL: "ws://127.0.0.1"},
		"no address": {WSURL: "ws://127.0.0.1", Token: token},
		"no scheme":  {HTTPURL: "http://127.0.0.1/api/v1", WSURL: "127.0.0.1:3001", Token: token},
		"no host":    {HTTPURL: "http://127.0.0.1/api/v1", WSURL: "ws:///v1", Token: token},
		"a token that cannot be sent": {
			HTTPURL: "http://127.0.0.1/api/v1", WSURL: "ws://127.0.0.1",
			Token: func(context.Context) (string, error) { return "secret\n", nil },
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
