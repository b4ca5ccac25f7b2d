package boot

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/transport/follow"
	"github.com/rethread/rethread/shared/transport/frontend"
)

const (
	// turnVariable is the environment variable with the duration of a stream, after which
	// its reader reconnects.
	turnVariable = "STREAM_TURN"
	defaultTurn  = 90 * time.Second
)

// FrontEnd returns the configuration of servers that follow sessions over the WebSocket
// API at WEBSOCKET_URL, with their callers' tokens, and hand runs to workers by a given
// function. ALLOWED_ORIGIN is the web origin whose pages may call them.
func (d Deps) FrontEnd(start func(context.Context, run.Ref) error) (frontend.Config, error) {
	endpoint, turn, err := Stream()
	if err != nil {
		return frontend.Config{}, err
	}
	return frontend.Config{
		Sessions: d.Store.Sessions, Rewinds: d.Store.History, Runs: d.Store.Runs, Agents: d, Grants: d.Store.Shares,
		StartRun: start,
		Watch:    follow.Socket(endpoint, http.DefaultClient),
		Streams:  d.Store.Usage, StreamTurn: turn, Unseen: d.Store.Watching,
		Log: d.Log, Now: d.Now, NewID: newOrderedID, AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
	}, nil
}

// Stream returns the address of the WebSocket API that streams read from, in
// WEBSOCKET_URL, and how long a stream lasts, in STREAM_TURN.
func Stream() (endpoint string, turn time.Duration, err error) {
	if endpoint, err = Address("WEBSOCKET_URL", "wss", "ws"); err != nil {
		return "", 0, err
	}
	turn, err = Duration(turnVariable, defaultTurn, time.Second)
	return endpoint, turn, err
}

// newOrderedID returns an id that sorts after all ids made before it.
func newOrderedID() string { return uuid.Must(uuid.NewV7()).String() }

// Deployed returns when this program was built, which is the same for all its
// instances.
func Deployed(log *slog.Logger) time.Time {
	path, err := os.Executable()
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(path); err == nil {
			return info.ModTime()
		}
	}
	log.Warn("the age of the program is unknown", "error", err)
	return time.Now()
}
