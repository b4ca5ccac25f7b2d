// Command mcp serves the caller's sessions over the Model Context Protocol.
package main

import (
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/mcp"
)

func main() { boot.Start(wire) }

// wire reads the environment: ALLOWED_ORIGIN is the web origin whose pages may call the
// server, JWT_ISSUER the issuer of tokens, and OAUTH_SCOPE has the scopes that clients
// should request, separated by spaces.
func wire(d boot.Deps) (any, error) {
	server, err := mcp.New(mcp.Config{
		Sessions: d.Store.Sessions, Rewinds: d.Store.History, Artifacts: d.Store.Artifacts, Shares: d.Store.Shares, Grants: d.Store.Shares,
		AllowedOrigin: os.Getenv("ALLOWED_ORIGIN"),
		OAuth:         mcp.OAuth{Issuer: os.Getenv("JWT_ISSUER"), Scopes: strings.Fields(os.Getenv("OAUTH_SCOPE"))},
		Log:           d.Log, Now: d.Now, NewID: uuid.NewString,
	})
	if err != nil {
		return nil, err
	}
	return boot.HTTP(server), nil
}
