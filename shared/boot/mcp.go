package boot

import (
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/transport/mcp"
)

// StartMCP runs the server of the Model Context Protocol until Lambda stops it.
// ALLOWED_ORIGIN is the web origin whose pages may call it, JWT_ISSUER the issuer of
// tokens, and OAUTH_SCOPE has the scopes that clients should request, separated by spaces.
func StartMCP() {
	start(func(d Deps) (any, error) {
		server, err := mcp.New(mcp.Config{
			Sessions: d.Store.Sessions, Rewinds: d.Store.History, Artifacts: d.Store.Artifacts, Shares: d.Store.Shares, Grants: d.Store.Shares,
			AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
			OAuth:         mcp.OAuth{Issuer: os.Getenv("JWT_ISSUER"), Scopes: strings.Fields(os.Getenv("OAUTH_SCOPE"))},
			Log:           d.Log, Now: time.Now, NewID: uuid.NewString,
		})
		if err != nil {
			return nil, err
		}
		return HTTP(server), nil
	})
}
