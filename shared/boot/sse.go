package boot

import (
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/rethread/rethread/shared/transport/sse"
)

const (
	// turnVariable is the environment variable with the duration of a stream, after which
	// its reader reconnects.
	turnVariable = "STREAM_TURN"
	defaultTurn  = 90 * time.Second
)

// StartSSE runs the function that serves sessions as server-sent events until Lambda
// stops it. It reads from the WebSocket API at WEBSOCKET_URL, and items that are too
// large for it from the HTTP API that the stage names; it uses the table only to count
// each user's open streams. ALLOWED_ORIGIN is the web origin whose pages may read, since the
// REST API adds no CORS headers to responses of functions.
func StartSSE() {
	start(func(d Deps) (any, error) {
		endpoint, err := address("WEBSOCKET_URL", "wss", "ws")
		if err != nil {
			return nil, err
		}
		turn, err := duration(turnVariable, defaultTurn, time.Second)
		if err != nil {
			return nil, err
		}
		return sse.New(sse.Config{
			URL: endpoint, AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
			Client: http.DefaultClient, Log: d.Log, Now: time.Now, Random: rand.Float64,
			Streams: d.Store.Usage, Turn: turn,
		}), nil
	})
}
