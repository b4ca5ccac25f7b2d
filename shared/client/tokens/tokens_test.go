package tokens_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/tokens"
)

func TestVerify(t *testing.T) {
	clock := newClock()
	site, issuer := newSite(t, clock.Now)
	now, key := clock.Now(), site.key(t)
	kid := issuer.JWKS().Keys[0].KeyID
	verifier := mustVerifier(t, site.url, clock.Now)

	good := jwt.MapClaims{"iss": site.url, "aud": audience, "sub": "alice", "exp": now.Add(time.Hour).Unix()}
	with := func(changes jwt.MapClaims) string {
		claims := maps.Clone(good)
		maps.Copy(claims, changes)
		maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
		return mustSign(t, jwt.SigningMethodRS256, key, map[string]any{"kid": kid}, claims)
	}
	signed := func(method jwt.SigningMethod, key any, header map[string]any) string {
		return mustSign(t, method, key, header, good)
	}
	named := map[string]any{"kid": kid}

	alice := tokens.Identity{Subject: "alice", Expires: now.Add(time.Hour)}
	scoped := alice
	scoped.Scope = "read write"
	for name, test := range map[string]struct {
		token string
		want  tokens.Identity
	}{
		"as the issuer makes it":        {mustToken(t, issuer, time.Hour), alice},
		"with the required claims only": {with(nil), alice},

		"for several audiences, including ours":      {with(jwt.MapClaims{"aud": []string{"x", audience}}), alice},
		"for a client, without an audience":          {with(jwt.MapClaims{"aud": nil, "client_id": audience}), alice},
		"with scopes in words":                       {with(jwt.MapClaims{"scope": "read write"}), scoped},
		"with scopes in a list":                      {with(jwt.MapClaims{"scp": []string{"read", "write"}}), scoped},
		"in its last second":                         {with(jwt.MapClaims{"exp": now.Add(time.Second).Unix()}), tokens.Identity{Subject: "alice", Expires: now.Add(time.Second)}},
		"by an issuer whose clock is slightly ahead": {with(jwt.MapClaims{"nbf": now.Add(4 * time.Second).Unix(), "iat": now.Add(4 * time.Second).Unix()}), alice},
	} {
		t.Run("takes a token "+name, func(t *testing.T) {
			got, err := verifier.Verify(t.Context(), test.token)
			if err != nil {
				t.Fatal(err)
			}
			if got.Claims["sub"] != test.want.Subject {
				t.Errorf("claims %v", got.Claims)
			}
			got.Claims = nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
		})
	}

	for name, test := range map[string]struct{ token, reason string }{
		"that has expired":                    {mustToken(t, issuer, -time.Minute), "expired"},
		"that expires now":                    {with(jwt.MapClaims{"exp": now.Unix()}), "expired"},
		"that never expires":                  {with(jwt.MapClaims{"exp": nil}), "exp"},
		"that is not valid yet":               {with(jwt.MapClaims{"nbf": now.Add(6 * time.Second).Unix()}), "not valid yet"},
		"from the future":                     {with(jwt.MapClaims{"iat": now.Add(6 * time.Second).Unix()}), "before issued"},
		"of another issuer":                   {mustToken(t, mustIssuer(t, "http://other.example", audience, site.dir, clock.Now), 0), "issuer"},
		"of no issuer":                        {with(jwt.MapClaims{"iss": nil}), "iss"},
		"for another audience":                {mustToken(t, mustIssuer(t, site.url, "stranger", site.dir, clock.Now), 0), "audience"},
		"for another audience, client or not": {with(jwt.MapClaims{"aud": "stranger", "client_id": audience}), "audience"},
		"without an audience":                 {with(jwt.MapClaims{"aud": nil}), "audience"},
		"without a subject":                   {with(jwt.MapClaims{"sub": nil}), "sub"},
		"whose subject is a number":           {with(jwt.MapClaims{"sub": 7}), "sub"},
		"signed with a stranger's key":        {mustToken(t, mustIssuer(t, site.url, audience, "", clock.Now), 0), "has no key"},
		"signed with a stranger's key under the issuer's key id": {signed(jwt.SigningMethodRS256, mustRSA(t), named), "verification error"},
		"that names no key":                    {signed(jwt.SigningMethodRS256, key, nil), "no key is named"},
		"with an unknown extension":            {signed(jwt.SigningMethodRS256, key, map[string]any{"kid": kid, "crit": []string{"x"}}), "extension"},
		"without a signature":                  {signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, named), "none"},
		"signed with the public key as secret": {signed(jwt.SigningMethodHS256, publicPEM(t, &key.PublicKey), named), "HS256"},
		"signed with PS256":                    {signed(jwt.SigningMethodPS256, key, named), "PS256"},
		"signed with ES256":                    {signed(jwt.SigningMethodES256, mustECDSA(t), named), "ES256"},
		"whose key is for another algorithm":   {signed(jwt.SigningMethodRS512, key, named), "RS512"},
		"with replaced claims":                 {tampered(t, with(nil), with(jwt.MapClaims{"sub": "bob"})), "verification error"},
		"that is not a JWT":                    {"hello", "malformed"},
		"that is empty":                        {"..", "malformed"},
	} {
		t.Run("refuses a token "+name, func(t *testing.T) {
			got, err := verifier.Verify(t.Context(), test.token)
			if !errors.Is(err, tokens.ErrInvalid) || errors.Is(err, tokens.ErrUnavailable) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("error %v, want an invalid token for %q", err, test.reason)
			}
			if diff := cmp.Diff(tokens.Identity{}, got); diff != "" {
				t.Errorf("it speaks for %+v", got)
			}
			if strings.Contains(err.Error(), test.token) && len(test.token) > 10 {
				t.Errorf("the error tells the token: %v", err)
			}
		})
	}
}

func TestNew(t *testing.T) {
	for name, c := range map[string]tokens.Config{
		"no issuer":                    {Audiences: []string{"a"}},
		"an issuer that is no address": {Issuer: "issuer.example", Audiences: []string{"a"}},
		"an issuer of another kind":    {Issuer: "ftp://issuer.example", Audiences: []string{"a"}},
		"no audience":                  {Issuer: "https://issuer.example"},
		"an empty audience":            {Issuer: "https://issuer.example", Audiences: []string{"a", ""}},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			c.Client, c.Now, c.Log = &http.Client{}, time.Now, slog.New(slog.DiscardHandler)
			if _, err := tokens.New(c); err == nil {
				t.Error("it is taken")
			}
		})
	}
}

// tampered combines the claims of one token with the signature of another.
func tampered(t *testing.T, signed, claims string) string {
	t.Helper()
	a, b := strings.Split(signed, "."), strings.Split(claims, ".")
	if len(a) != 3 || len(b) != 3 {
		t.Fatal("these are no tokens")
	}
	return a[0] + "." + b[1] + "." + a[2]
}

func publicPEM(t *testing.T, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func mustECDSA(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
