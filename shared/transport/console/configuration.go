package console

import (
	"fmt"
	"net/http"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// SignIn says how the page gets a token for its user.
type SignIn struct {
	// DevTokenURL gives anyone a token for any user; only a developer's machine
	// has such a place. It goes before the issuer.
	DevTokenURL string
	// Issuer is asked by the authorization code flow with PKCE (RFC 7636), as the
	// client ClientID and for the scopes Scope, separated by blanks. Without a
	// ClientID nobody can sign in.
	Issuer, ClientID, Scope string
}

// oidc says whether people sign in with the issuer.
func (s SignIn) oidc() bool { return s.DevTokenURL == "" && s.ClientID != "" }

// configuration is what the page asks for first, as JSON.
type configuration []byte

type configurationJSON struct {
	WatchURL string     `json:"watch_url"`
	SignIn   signInJSON `json:"sign_in"`
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
	body, err := jsonx.Marshal(configurationJSON{WatchURL: c.WatchURL, SignIn: signIn})
	if err != nil {
		return nil, fmt.Errorf("encode the console's configuration: %w", err)
	}
	return body, nil
}

// serve answers with the configuration, which no cache may keep: a deployment
// that changes it must reach the page at its next start.
func (c configuration) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(c) // a caller that is gone needs no answer
}
