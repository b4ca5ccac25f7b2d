package boot

import (
	"math/rand/v2"
	"net/http"
	"os"

	"github.com/rethread/rethread/shared/transport/sse"
)

// StartSSE runs the function that serves sessions as server-sent events until Lambda
// stops it. It reads from the WebSocket API at WEBSOCKET_URL, and items that are too
// large for it from the HTTP API that the stage names; it uses the table only to count
// each user's open streams. ALLOWED_ORIGIN is the web origin whose pages may read, since the
// REST API adds no CORS headers to responses of functions.
func StartSSE() {
	Start(func(d Deps) (any, error) {
		endpoint, turn, err := Stream()
		if err != nil {
			return nil, err
		}
		return sse.New(sse.Config{
			URL: endpoint, AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
			Client: http.DefaultClient, Log: d.Log, Now: d.Now, Random: rand.Float64,
			Streams: d.Store.Usage, Turn: turn,
		}), nil
	})
}
