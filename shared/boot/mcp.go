package boot

import (
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/transport/mcp"
)

// StartMCP runs the server of the Model Context Protocol until Lambda stops it.
// ALLOWED_ORIGIN is the web origin whose pages may call it.
func StartMCP() {
	start(func(d Deps) (any, error) {
		server, err := mcp.New(mcp.Config{
			Sessions: d.Store, Rewinds: d.Store, Artifacts: d.Store, Shares: d.Store, Grants: d.Store,
			AdminScope: os.Getenv(adminVariable), AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
			Log: d.Log, Now: time.Now, NewID: uuid.NewString,
		})
		if err != nil {
			return nil, err
		}
		return HTTP(server), nil
	})
}
