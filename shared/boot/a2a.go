package boot

import (
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/client/signing"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/follow"
)

// StartA2A runs the A2A server of all agents until Lambda stops it. It follows
// sessions over the WebSocket API at WEBSOCKET_URL, with its callers' tokens;
// ALLOWED_ORIGIN is the web origin whose pages may call it.
func StartA2A() {
	start(func(d Deps) (any, error) {
		endpoint, err := address("WEBSOCKET_URL", "wss", "ws")
		if err != nil {
			return nil, err
		}
		turn, err := duration(turnVariable, defaultTurn, time.Second)
		if err != nil {
			return nil, err
		}
		return Streaming(a2a.New(a2a.Config{
			Sessions: d.Store.Sessions, Rewinds: d.Store.History, Runs: d.Store.Runs, Tasks: d.Store.Tasks, Links: d.Store.Tasks, Agents: d,
			Grants:   d.Store.Shares,
			StartRun: Dispatcher(lambda.NewFromConfig(d.AWS), os.Getenv(runnerVariable)),
			Watch:    follow.Socket(endpoint, http.DefaultClient),
			Streams:  d.Store.Usage, StreamTurn: turn,
			Push: d.Store.Pushes, CheckURL: guard().Check, PublicKeys: signing.New(d.Store.Keys, time.Now).Public,
			Log: d.Log, Now: time.Now, NewID: newOrderedID,
			Modified: deployed(d.Log), AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
		}), d.Log, time.Now), nil
	})
}

// newOrderedID returns an id that sorts after all ids made before it.
func newOrderedID() string { return uuid.Must(uuid.NewV7()).String() }

// deployed returns when this program was built, which is the same for all its
// instances.
func deployed(log *slog.Logger) time.Time {
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
