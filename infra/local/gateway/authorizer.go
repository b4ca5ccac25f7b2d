package gateway

import (
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// Keys finds the public keys of an issuer.
type Keys interface {
	// Key returns an error if the issuer has no such key.
	Key(issuer, keyID string) (crypto.PublicKey, error)
}

var errAudience = errors.New("invalid audience")

// denial is why a request was refused.
type denial struct {
	status    int
	message   string
	challenge string
}

func (d *denial) write(rw http.ResponseWriter) int {
	rw.Header().Set("Www-Authenticate", d.challenge)
	return refuse(rw, d.status, d.message)
}

// authorize checks the token that the route requires. It returns no claims if the
// route is public.
func (g *Gateway) authorize(r *http.Request, to samtemplate.Route) (jwt.MapClaims, *denial) {
	if to.Authorizer == "" {
		return nil, nil
	}
	authorizer := g.opts.API.JWT[to.Authorizer]
	token := identity(r, authorizer.IdentitySource)
	if token == "" {
		return nil, &denial{http.StatusUnauthorized, "Unauthorized", "Bearer"}
	}
	claims, err := g.verify(token, authorizer)
	if err != nil {
		return nil, &denial{http.StatusUnauthorized, "Unauthorized", challenge(err)}
	}
	return claims, nil
}

func challenge(err error) string {
	return fmt.Sprintf(`Bearer scope="" error="invalid_token" error_description=%q`, err)
}

// identity reads the token from the authorizer's identity source.
func identity(r *http.Request, source string) string {
	value := r.Header.Get(strings.TrimPrefix(source, "$request.header."))
	if len(value) > len("bearer ") && strings.EqualFold(value[:len("bearer ")], "bearer ") {
		return strings.TrimSpace(value[len("bearer "):])
	}
	return value
}

func (g *Gateway) verify(token string, authorizer samtemplate.JWTAuthorizer) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{"RS256", "RS384", "RS512"}), // HTTP APIs support RSA only
		jwt.WithIssuer(authorizer.Issuer), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithJSONNumber(),
		jwt.WithTimeFunc(g.opts.Now),
	)
	_, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		keyID, _ := t.Header["kid"].(string)
		return g.opts.Keys.Key(authorizer.Issuer, keyID)
	})
	if err != nil {
		return nil, err
	}
	audiences, err := claims.GetAudience()
	if err != nil || len(audiences) == 0 {
		client, _ := claims["client_id"].(string)
		audiences = jwt.ClaimStrings{client}
	}
	for _, audience := range audiences {
		if slices.Contains(authorizer.Audience, audience) {
			return claims, nil
		}
	}
	return nil, errAudience
}

// claimStrings are the claims as functions receive them: all values are strings.
func claimStrings(claims jwt.MapClaims) map[string]string {
	texts := map[string]string{}
	for name, value := range claims {
		texts[name] = fmt.Sprint(value)
	}
	return texts
}
