package boot

import (
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/rethread/rethread/shared/transport/sse"
)

const (
	// turnVariable names the environment variable that says how long a stream
	// lasts before its reader is to come back.
	turnVariable = "STREAM_TURN"
	defaultTurn  = 90 * time.Second
)

// StartSSE runs the function that serves sessions as server-sent events
// until Lambda stops it. It asks the WebSocket API at WEBSOCKET_URL, and
// for items that are too large for that the HTTP API at HTTP_URL; in the table
// it counts who has how many streams open, and nothing else. ALLOWED_ORIGIN is
// the web origin whose pages may read, as the REST API does not say it for
// answers of functions.
func StartSSE() {
	start(func(d Deps) (any, error) {
		endpoint, err := address("WEBSOCKET_URL", "wss", "ws")
		if err != nil {
			return nil, err
		}
		api, err := address("HTTP_URL", "https", "http")
		if err != nil {
			return nil, err
		}
		turn, err := duration(turnVariable, defaultTurn, time.Second)
		if err != nil {
			return nil, err
		}
		return sse.New(sse.Config{
			URL: endpoint, API: api + "/api/v1", AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
			Client: http.DefaultClient, Log: d.Log, Now: time.Now, Random: rand.Float64,
			Streams: d.Store, Turn: turn,
		}), nil
	})
}
