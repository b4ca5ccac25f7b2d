package boot

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/rethread/rethread/shared/wsapi/sse"
)

// StartWatchStream runs the function that serves sessions as server-sent events
// until Lambda stops it. It needs no table: it asks the WebSocket API at
// WEBSOCKET_URL. ALLOWED_ORIGIN is the web origin whose pages may read, as the
// REST API does not say it for answers of functions.
func StartWatchStream() {
	ctx := context.Background()
	log, err := newLogger(os.Getenv("LOG_LEVEL"))
	if err != nil {
		slog.ErrorContext(ctx, "the function cannot start", "error", err)
		os.Exit(1)
	}
	endpoint, err := address("WEBSOCKET_URL", "wss", "ws")
	if err != nil {
		log.ErrorContext(ctx, "the function cannot start", "error", err)
		os.Exit(1)
	}
	serve(log, sse.New(sse.Config{
		URL: endpoint, AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
		Client: http.DefaultClient, Log: log, Now: time.Now,
	}))
}
