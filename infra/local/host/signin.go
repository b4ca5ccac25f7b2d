package host

import (
	"net/http"
	"slices"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/identity"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/shared/transport/console"
)

// SignIn is an identity provider, as the template's parameters describe it.
// Without an Issuer, the development issuer gives anyone a token for any user.
type SignIn struct {
	Issuer, Audience string
	// ClientID and Scope are what the console signs in with.
	ClientID, Scope string
}

func (s SignIn) configured() bool { return s.Issuer != "" }

// parameters are the template's parameters that the provider sets, without its address.
func (s SignIn) parameters() map[string]string {
	out := map[string]string{}
	if !s.configured() {
		return out
	}
	for name, value := range map[string]string{
		"JwtAudience": s.Audience, "ConsoleClientId": s.ClientID, "ConsoleScope": s.Scope,
	} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

func (s SignIn) keys(development *identity.Issuer) gateway.Keys {
	if !s.configured() {
		return development
	}
	return identity.NewRemote(s.Issuer, http.DefaultClient)
}

// ConsoleURL is the address of the console in the browser; empty if the template
// has none.
func (s *System) ConsoleURL() string {
	isConsole := func(r samtemplate.Route) bool { return r.Path == console.Base }
	for _, f := range s.template.Functions {
		if slices.ContainsFunc(f.Routes, isConsole) {
			return s.URL() + console.Base
		}
	}
	return ""
}
