package mcp

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/rethread/rethread/shared/transport/gateway"
)

// wellKnown is the path of the metadata about the whole API (RFC 9728). That of the
// metadata about a resource at a path ends with this path.
const wellKnown = "/.well-known/oauth-protected-resource"

// OAuth says where clients get tokens.
type OAuth struct {
	Issuer string   // of the tokens
	Scopes []string // that clients should request; none if the issuer needs none
}

// describe answers a request for metadata, by which a client that has no token finds the
// issuer, and reports whether it was one. It needs no token itself.
func (s *server) describe(w http.ResponseWriter, r *http.Request) bool {
	path, found := strings.CutPrefix(r.URL.Path, wellKnown)
	if !found {
		return false
	}
	w.Header().Set("Cache-Control", "public, max-age=300")
	auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: gateway.Origin(r.Header, r.Host) + path, ResourceName: "Rethread",
		AuthorizationServers: []string{s.OAuth.Issuer}, ScopesSupported: s.OAuth.Scopes,
		BearerMethodsSupported: []string{"header"},
	}).ServeHTTP(w, r)
	return true
}

// challenge is sent to callers without a token.
func challenge(r *http.Request) string {
	return `Bearer resource_metadata="` + gateway.Origin(r.Header, r.Host) + wellKnown + r.URL.Path + `"`
}
