package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// SignIn configures how the page gets a token for its user.
type SignIn struct {
	// DevTokenURL issues a token for any user to anyone; it exists only in
	// local development. It takes precedence over Issuer.
	DevTokenURL string
	// Issuer signs users in by the authorization code flow with PKCE (RFC
	// 7636), with the client ClientID and the scopes Scope, separated by
	// blanks. Without a ClientID nobody can sign in.
	Issuer, ClientID, Scope string
}

// oidc reports whether users sign in with the issuer.
func (s SignIn) oidc() bool { return s.DevTokenURL == "" && s.ClientID != "" }

// configuration is the JSON document that the page loads first.
type configuration []byte

type configurationJSON struct {
	WatchURL  string           `json:"watch_url"`
	StreamURL string           `json:"stream_url,omitempty"`
	SignIn    signInJSON       `json:"sign_in"`
	TraceURL  string           `json:"trace_url,omitempty"`
	Prices    map[string]price `json:"prices,omitempty"`
}

type signInJSON struct {
	Kind     string `json:"kind"`
	TokenURL string `json:"token_url,omitempty"`
	Issuer   string `json:"issuer,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	Scope    string `json:"scope,omitempty"`
}

func (c Config) configuration() (configuration, error) {
	signIn := signInJSON{Kind: "none"}
	switch {
	case c.SignIn.DevTokenURL != "":
		signIn = signInJSON{Kind: "dev", TokenURL: c.SignIn.DevTokenURL}
	case c.SignIn.oidc():
		signIn = signInJSON{
			Kind: "oidc", Issuer: c.SignIn.Issuer, ClientID: c.SignIn.ClientID, Scope: c.SignIn.Scope,
		}
	}
	prices, err := parsePrices(c.Prices)
	if err != nil {
		return nil, err
	}
	if u, err := url.Parse(c.TraceURL); c.TraceURL != "" &&
		(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || !strings.Contains(c.TraceURL, "{trace_id}")) {
		return nil, fmt.Errorf("%q is not the address of a trace with {trace_id}", c.TraceURL)
	}
	body, err := jsonx.Marshal(configurationJSON{
		WatchURL: c.WatchURL, StreamURL: c.StreamURL, SignIn: signIn, TraceURL: c.TraceURL, Prices: prices,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the console's configuration: %w", err)
	}
	return body, nil
}

// serve answers the configuration. It forbids caching, so that the page gets a
// deployment's changes at its next start.
func (c configuration) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(c) // the caller may have left
}
