package boot

import (
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/rethread/rethread/shared/transport/agui"
	"github.com/rethread/rethread/shared/transport/aisdk"
	"github.com/rethread/rethread/shared/transport/follow"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/openresponses"
)

// StartAGUI runs the AG-UI server of all agents until Lambda stops it. It follows
// sessions over the WebSocket API at WEBSOCKET_URL, with its callers' tokens;
// ALLOWED_ORIGIN is the web origin whose pages may call it.
func StartAGUI() {
	startFrontEnd(func(c frontend.Config, _ Deps) http.Handler { return agui.New(c) })
}

// StartAISDK runs the server of the AI SDK's UI message stream for all agents until
// Lambda stops it, with the same environment as StartAGUI.
func StartAISDK() {
	startFrontEnd(func(c frontend.Config, _ Deps) http.Handler { return aisdk.New(c) })
}

// StartResponses runs the server of Open Responses for all agents until Lambda stops it,
// with the same environment as StartAGUI.
func StartResponses() {
	startFrontEnd(func(c frontend.Config, d Deps) http.Handler { return openresponses.New(c, d) })
}

func startFrontEnd(handler func(frontend.Config, Deps) http.Handler) {
	start(func(d Deps) (any, error) {
		endpoint, err := address("WEBSOCKET_URL", "wss", "ws")
		if err != nil {
			return nil, err
		}
		turn, err := duration(turnVariable, defaultTurn, time.Second)
		if err != nil {
			return nil, err
		}
		return Streaming(handler(frontend.Config{
			Sessions: d.Store.Sessions, Rewinds: d.Store.History, Runs: d.Store.Runs, Agents: d, Grants: d.Store.Shares,
			StartRun: Dispatcher(lambda.NewFromConfig(d.AWS), os.Getenv(runnerVariable)),
			Watch:    follow.Socket(endpoint, http.DefaultClient),
			Streams:  d.Store.Usage, StreamTurn: turn, Unseen: d.Store.Unseen,
			Log: d.Log, Now: time.Now, NewID: newOrderedID, AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
		}, d), d.Log, time.Now), nil
	})
}
