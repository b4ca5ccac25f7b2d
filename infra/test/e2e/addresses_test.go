package e2e_test

import (
	"net/http"
	"strings"
	"testing"

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
}
