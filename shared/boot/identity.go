package boot

import (
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/tokens"
	"github.com/rethread/rethread/shared/domain/access"
)

// Environment variables that say whose tokens make admins and services: a word of their
// scope, or a claim with its value (name=value). Both may be empty.
const (
	adminVariable        = "ADMIN_SCOPE"
	adminClaimVariable   = "ADMIN_CLAIM"
	serviceVariable      = "SERVICE_SCOPE"
	serviceClaimVariable = "SERVICE_CLAIM"
	// appWritersVariable names who changes the state of apps besides services: "users"
	// for all callers, anything else for nobody.
	appWritersVariable = "APP_STATE_WRITERS" //nolint:gosec // the name of a variable, no password
)

// Identities says who the caller of a request is.
type Identities struct {
	admins, services kind
	usersChangeApps  bool
}

// kind is a kind of tokens: those with a word in their scope, and those with a claim,
// since some identity providers grant scopes to whole clients.
type kind struct{ word, claim, value string }

// NewIdentities reads the environment.
func NewIdentities() Identities {
	return Identities{
		admins:          newKind(adminVariable, adminClaimVariable),
		services:        newKind(serviceVariable, serviceClaimVariable),
		usersChangeApps: os.Getenv(appWritersVariable) == "users",
	}
}

func newKind(scope, claim string) kind {
	name, value, _ := strings.Cut(os.Getenv(claim), "=")
	return kind{word: os.Getenv(scope), claim: name, value: value}
}

// includes reports whether a token is of the kind.
func (k kind) includes(t Token) bool {
	return k.word != "" && slices.Contains(strings.Fields(t.Scope), k.word) ||
		k.claim != "" && tokens.HasClaim(t.Claims(), k.claim, k.value)
}

// Token is a verified token.
type Token struct {
	Subject string
	Scope   string                // words separated by blanks (RFC 6749, section 3.3)
	Claims  func() map[string]any // called only if they are needed
	Text    string                // the token itself
}

// Caller returns the caller of a request with a token. The values of access.UserHeader
// name the user that a service acts for, who is no admin: a fault refuses the request.
func (i Identities) Caller(t Token, named ...string) (access.Caller, error) {
	c := access.Caller{UserID: t.Subject, Token: t.Text}
	if i.services.includes(t) {
		c.Service = t.Subject
	}
	c.ChangesApp = i.usersChangeApps || c.Service != ""
	switch {
	case len(named) == 0:
		c.Admin = i.admins.includes(t)
		return c, nil
	case c.Service == "":
		return access.Caller{}, fault.Field(fault.ServiceRequired, access.UserHeader, "is a service's to send, and this token is no service's")
	case len(named) > 1:
		return access.Caller{}, fault.Field(fault.Malformed, access.UserHeader, "must name one user")
	}
	user, err := access.DecodeUser(named[0])
	if err != nil {
		return access.Caller{}, err
	}
	c.UserID = user
	return c, nil
}

// httpCaller returns the caller of a request to the HTTP API, whose gateway has verified
// the token; the zero Caller if it requires none.
func (i Identities) httpCaller(event events.APIGatewayV2HTTPRequest) (access.Caller, error) {
	a := event.RequestContext.Authorizer
	// An id under which nothing can be stored counts as none: 401.
	if a == nil || a.JWT == nil || !access.IsUserID(a.JWT.Claims["sub"]) {
		return access.Caller{}, nil
	}
	header := headerOf(event.Headers)
	text, _ := tokens.Carried(header, nil) // has been verified: without one there are no claims
	return i.Caller(Token{
		Subject: a.JWT.Claims["sub"], Scope: scopeOf(a.JWT.Claims), Text: text,
		Claims: func() map[string]any { return tokens.Claims(text) },
	}, header.Values(access.UserHeader)...)
}

// scopeOf returns the scope of a verified token: the claim scope or scp, either words
// or a list in brackets, as the gateway formats it.
func scopeOf(claims map[string]string) string {
	for _, name := range []string{"scope", "scp"} {
		if scope, ok := claims[name]; ok {
			return strings.Trim(scope, "[]")
		}
	}
	return ""
}
