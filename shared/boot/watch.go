package boot

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/rethread/rethread/shared/client/connections"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws"
)

// idleConnections is how many connections to the gateway are kept open between posts:
// the number of concurrent posts.
const idleConnections = 64

// StartWatch runs the function behind the WebSocket API until Lambda stops it.
// It posts to the clients' connections at CONNECTIONS_URL.
func StartWatch() {
	Start(func(d Deps) (any, error) {
		pusher, err := d.Pusher()
		if err != nil {
			return nil, err
		}
		return ws.New(ws.Config{
			Gate:          access.NewGate(d.Store.Shares, d.Now, d.Log),
			Subscriptions: d.Store.Subscriptions, Feed: d.Store.Watching, Pusher: pusher, Log: d.Log, Now: d.Now,
		}), nil
	})
}

// Pusher posts to the clients of the WebSocket API, at CONNECTIONS_URL.
func (d Deps) Pusher() (watch.Pusher, error) {
	endpoint, err := Address("CONNECTIONS_URL", "https", "http")
	if err != nil {
		return nil, err
	}
	cfg := d.AWS.Copy()
	cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
	})
	return connections.New(cfg, endpoint, 0), nil
}

// Address reads an address from an environment variable.
func Address(name string, schemes ...string) (string, error) {
	value := os.Getenv(name)
	if parsed, err := url.Parse(value); err != nil || !slices.Contains(schemes, parsed.Scheme) || parsed.Host == "" {
		return "", fmt.Errorf("the environment variable %s: %q is not an address of scheme %s", name, value, schemes[0])
	}
	return value, nil
}
