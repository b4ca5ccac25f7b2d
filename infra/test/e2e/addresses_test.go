package e2e_test

import (
	"context"
	"errors"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
)

// testAddresses gets the document that names the deployment's addresses, without a token,
// and asks at each of them.
func testAddresses(t *testing.T, sys *e2e.System) {
	t.Helper()
	stranger := sys.Bearer(t, "", "")
	answer := stranger.Get(api).Want(200)
	for member, want := range map[string]string{"url": sys.URL, "stream_url": sys.URL, "websocket_url": sys.WebSocketURL} {
		if got := answer.Str("data." + member); got != want {
			t.Errorf("%s is %s, want %s", member, got, want)
		}
	}
	if cached := answer.Header.Get("Cache-Control"); cached == "" {
		t.Error("the document cannot be cached")
	}
	below := map[string]string{"open_responses": "/responses"}
	names, addresses := answer.Each("data.protocols", "name"), answer.Each("data.protocols", "url")
	for i, name := range names {
		path := strings.ReplaceAll(strings.TrimPrefix(addresses[i], sys.URL), "{agent}", "demo") + below[name]
		stranger.Send(http.MethodPost, path, e2e.M{}, e2e.Off).Want(401) // an address of nothing has 404
	}
	stranger.Send(http.MethodPost, "/none/demo", e2e.M{}, e2e.Off).Want(404)
	if len(names) != 5 {
		t.Errorf("the protocols are %v", names)
	}
	t.Run("a stream has what is larger than a message, from the HTTP API", func(t *testing.T) {
		alice := sys.User(t, "large-items")
		s := mustCreate(t, alice, nil)
		follower := alice.Follow(path.Base(s), "a client", e2e.ServerSent)
		mustAppend(t, alice, s, event("i0", strings.Repeat("0123456789", 16_000)))
		mustAgree(t, alice, s, []*e2e.Follower{follower})
	})
	t.Run("a client that knows one address watches", func(t *testing.T) { testOneAddress(t, sys) })
}

// testOneAddress watches over server-sent events and over a websocket.
func testOneAddress(t *testing.T, sys *e2e.System) {
	t.Helper()
	client, user := goClient(t, sys, "one-address")
	made := must[rethread.Session](t)(client.Sessions.Create(t.Context(), rethread.SessionRequest{AppName: "trips"}))
	goTurn(t, client, made.ID, "Faro")
	for watched, err := range client.Watch(t.Context(), made.ID) {
		if err != nil || goTexts(watched.Items) != "Faro | ok" {
			t.Errorf("the stream shows %s: %v", goTexts(watched.Items), err)
		}
		break
	}
	ctx, stop := context.WithCancelCause(t.Context())
	c := watch.Open(ctx, watch.Config{URL: sys.URL, Token: rethread.StaticToken(user.Token)})
	defer c.Close()
	shown, porto := errors.New("shown"), sync.OnceFunc(func() { goTurn(t, client, made.ID, "Porto") })
	err := c.Watch(ctx, made.ID, func(s view.Session) {
		if len(s.Items) == 4 {
			stop(shown)
		}
		porto()
	})
	if !errors.Is(err, shown) {
		t.Error(err)
	}
}
