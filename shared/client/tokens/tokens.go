// Package tokens verifies callers' tokens where no gateway does. Its requirements for
// a JWT (RFC 7519) are those of the HTTP API's JWT authorizer, so that a token is
// valid for watching if and only if it is valid for the API.
package tokens

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// leeway is how far an issuer's clock may be ahead of the local one. It does not
// extend a token's expiry: the API would refuse the token anyway.
const leeway = 5 * time.Second

var (
	// ErrInvalid refuses a token, or its absence; the text has the reason and never
	// contains the token.
	ErrInvalid = errors.New("the token is not valid")
	// ErrUnavailable says that the issuer's keys could not be read, so the token is
	// neither valid nor invalid.
	ErrUnavailable = errors.New("the issuer's keys cannot be read")
)

// Config configures a verifier; all fields are required.
type Config struct {
	Issuer    string   // as tokens name it in iss; its keys are found below it (OpenID Connect Discovery 1.0, section 4)
	Audiences []string // aud, or without one client_id, must name one of them
	Client    *http.Client
	Now       func() time.Time
	Log       *slog.Logger
}

// Identity is the caller that a token identifies.
type Identity struct {
	Subject string
	Expires time.Time
	Scope   string // what the token allows, words separated by blanks; empty where it says nothing
	Claims  map[string]any
}

// Verifier verifies tokens of one issuer. It is safe for concurrent use and caches
// the issuer's keys between calls.
type Verifier struct {
	audiences []string
	keys      *keys
	parser    *jwt.Parser
	now       func() time.Time
}

// New returns a verifier; it reads nothing yet. It fails if the issuer is not an http
// or https address, or an audience is empty.
func New(c Config) (*Verifier, error) {
	issuer, err := url.Parse(c.Issuer)
	if err != nil || issuer.Scheme != "https" && issuer.Scheme != "http" || issuer.Host == "" {
		return nil, fmt.Errorf("the issuer %q is no address that starts with https:// or http://", c.Issuer)
	}
	if len(c.Audiences) == 0 || slices.Contains(c.Audiences, "") {
		return nil, fmt.Errorf("the audiences %q name nothing", c.Audiences)
	}
	return &Verifier{
		audiences: slices.Clone(c.Audiences),
		keys:      &keys{source: source{issuer: c.Issuer, scheme: issuer.Scheme, client: c.Client}, now: c.Now, log: c.Log},
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{"RS256", "RS384", "RS512"}), // HTTP APIs accept only RSA
			jwt.WithIssuer(c.Issuer), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
			jwt.WithLeeway(leeway), jwt.WithTimeFunc(c.Now), jwt.WithJSONNumber(),
		),
		now: c.Now,
	}, nil
}

// Verify returns the caller that a token identifies. It returns ErrInvalid for a
// token that must be refused and ErrUnavailable if the issuer's keys are needed and
// cannot be read.
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	claims := jwt.MapClaims{}
	_, err := v.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) { return v.key(ctx, t) })
	if errors.Is(err, ErrUnavailable) {
		return Identity{}, err
	}
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return v.identity(claims)
}

// key returns the keys that may have signed a token.
func (v *Verifier) key(ctx context.Context, token *jwt.Token) (any, error) {
	if _, ok := token.Header["crit"]; ok { // RFC 7515, section 4.1.11
		return nil, errors.New("an extension that must be understood is not")
	}
	id, _ := token.Header["kid"].(string)
	if id == "" {
		return nil, errors.New("no key is named")
	}
	return v.keys.find(ctx, id, token.Method.Alg())
}

func (v *Verifier) identity(claims jwt.MapClaims) (Identity, error) {
	subject, err := claims.GetSubject()
	if err != nil || subject == "" {
		return Identity{}, fmt.Errorf("%w: sub is empty", ErrInvalid)
	}
	if !v.meant(claims) {
		return Identity{}, fmt.Errorf("%w: it is meant for another audience", ErrInvalid)
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || !v.now().Before(expires.Time) {
		return Identity{}, fmt.Errorf("%w: it has expired", ErrInvalid)
	}
	return Identity{Subject: subject, Expires: expires.Time, Scope: Scope(claims), Claims: claims}, nil
}

// meant reports whether the token is for this API: by its audience or, if it has
// none, by the client that it was issued for.
func (v *Verifier) meant(claims jwt.MapClaims) bool {
	audiences, err := claims.GetAudience()
	if err != nil {
		return false
	}
	if len(audiences) == 0 {
		client, _ := claims["client_id"].(string)
		audiences = jwt.ClaimStrings{client}
	}
	return slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(v.audiences, a) })
}

// Scope returns the scope that claims have, words separated by blanks: scope or scp, as
// words or a list.
func Scope(claims map[string]any) string {
	for _, name := range []string{"scope", "scp"} {
		switch value := claims[name].(type) {
		case string:
			return value
		case []any:
			words := make([]string, len(value))
			for i, word := range value {
				words[i] = fmt.Sprint(word)
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}
