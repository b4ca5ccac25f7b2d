package gateway_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// oneKey is an issuer with one key.
type oneKey struct{ key *rsa.PrivateKey }

// Key implements gateway.Keys.
func (k oneKey) Key(issuer, id string) (crypto.PublicKey, error) {
	if issuer != "https://issuer.example" || id != "k1" {
		return nil, errors.New("no such key")
	}
	return k.key.Public(), nil
}

func TestAuthorizer(t *testing.T) {
	keys, stranger := oneKey{mustKey(t)}, oneKey{mustKey(t)}
	now := time.Now()
	good := func() jwt.MapClaims {
		return jwt.MapClaims{
			"iss": "https://issuer.example", "aud": "rethread", "sub": "alice", "exp": now.Add(time.Hour).Unix(),
			"scope": "read write", "groups": []string{"a", "b"}, "admin": true,
		}
	}
	with := func(name string, value any) jwt.MapClaims {
		claims := good()
		claims[name] = value
		return claims
	}
	for _, test := range []struct {
		name      string
		header    string
		status    int
		challenge string
	}{
		{"accepts a valid token", "Bearer " + mustSign(t, keys, "k1", good()), 200, ""},
		{"accepts a token without the Bearer scheme", mustSign(t, keys, "k1", good()), 200, ""},
		{"accepts one of several audiences", mustSign(t, keys, "k1", with("aud", []string{"x", "rethread"})), 200, ""},
		{"accepts client_id in place of the audience", mustSign(t, keys, "k1", jwt.MapClaims{
			"iss": "https://issuer.example", "client_id": "rethread", "exp": now.Add(time.Hour).Unix(),
		}), 200, ""},
		{"refuses a request without a token", "", 401, "Bearer"},
		{"refuses a value that is not a token", "Bearer hello", 401, `error="invalid_token"`},
		{"refuses a token signed with another key", mustSign(t, stranger, "k1", good()), 401, "verification error"},
		{"refuses an unknown key id", mustSign(t, keys, "k2", good()), 401, "no such key"},
		{"refuses another issuer", mustSign(t, keys, "k1", with("iss", "https://other.example")), 401, "invalid issuer"},
		{"refuses another audience", mustSign(t, keys, "k1", with("aud", "other")), 401, "invalid audience"},
		{"refuses an expired token", mustSign(t, keys, "k1", with("exp", now.Add(-time.Second).Unix())), 401, "token is expired"},
		{"refuses a token without exp", mustSign(t, keys, "k1", jwt.MapClaims{"iss": "https://issuer.example", "aud": "rethread"}), 401, "exp"},
		{"refuses a token before its nbf", mustSign(t, keys, "k1", with("nbf", now.Add(time.Hour).Unix())), 401, "not valid yet"},
		{"refuses a token issued in the future", mustSign(t, keys, "k1", with("iat", now.Add(time.Hour).Unix())), 401, "used before issued"},
		{"refuses a symmetric signature", mustSignSecret(t, good()), 401, "signing method HS256 is invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := mustGateway(t, setup{routes: []string{"GET /"}, authorizer: "Jwt", keys: keys})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			r.Header.Set("Authorization", test.header)
			recorder := httptest.NewRecorder()
			g.ServeHTTP(recorder, r)
			body := map[int]string{401: `{"message":"Unauthorized"}`}[test.status]
			if recorder.Code != test.status || (body != "" && recorder.Body.String() != body) {
				t.Errorf("%d %s, want %d %s", recorder.Code, recorder.Body, test.status, body)
			}
			if got := recorder.Header().Get("Www-Authenticate"); !strings.Contains(got, test.challenge) {
				t.Errorf("challenge %q, want %q", got, test.challenge)
			}
		})
	}
	t.Run("functions receive the claims as strings", func(t *testing.T) {
		g := mustGateway(t, setup{routes: []string{"GET /"}, authorizer: "Jwt", keys: keys})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Authorization", mustSign(t, keys, "k1", with("exp", 4102444800)))
		_, event := send(t, g, r)
		want := map[string]string{
			"iss": "https://issuer.example", "aud": "rethread", "sub": "alice", "exp": "4102444800",
			"scope": "read write", "groups": "[a b]", "admin": "true",
		}
		if diff := cmp.Diff(want, event.RequestContext.Authorizer.JWT.Claims); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
	})
}

func TestCORS(t *testing.T) {
	config := &samtemplate.CORS{
		AllowOrigins: []string{"https://app.example", "http://*"}, AllowMethods: []string{"GET", "POST"},
		AllowHeaders: []string{"authorization"}, ExposeHeaders: []string{"etag"}, MaxAge: 60,
	}
	g := mustGateway(t, setup{routes: []string{"GET /"}, authorizer: "Jwt", cors: config})
	for _, test := range []struct {
		name, method, origin, asks string
		status                     int
		want                       http.Header
	}{
		{"a preflight request needs no token", "OPTIONS", "https://app.example", "POST", 204, http.Header{
			"Access-Control-Allow-Origin": {"https://app.example"}, "Access-Control-Allow-Methods": {"GET,POST"},
			"Access-Control-Allow-Headers": {"authorization"}, "Access-Control-Max-Age": {"60"},
		}},
		{"allows an origin by its scheme", "OPTIONS", "http://any.example", "GET", 204, http.Header{"Access-Control-Allow-Origin": {"http://any.example"}}},
		{"does not allow another origin", "OPTIONS", "https://evil.example", "POST", 204, http.Header{"Access-Control-Allow-Origin": nil}},
		{"OPTIONS without Access-Control-Request-Method is an ordinary request", "OPTIONS", "https://app.example", "", 404, nil},
		{"errors carry CORS headers", "GET", "https://app.example", "", 401, http.Header{
			"Access-Control-Allow-Origin": {"https://app.example"}, "Access-Control-Expose-Headers": {"etag"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), test.method, "/", http.NoBody)
			r.Header.Set("Origin", test.origin)
			if test.asks != "" {
				r.Header.Set("Access-Control-Request-Method", test.asks)
			}
			recorder := httptest.NewRecorder()
			g.ServeHTTP(recorder, r)
			if recorder.Code != test.status {
				t.Errorf("status %d, want %d", recorder.Code, test.status)
			}
			for name, want := range test.want {
				if diff := cmp.Diff(want, recorder.Header()[name]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func mustKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mustSign(t *testing.T, keys oneKey, id string, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = id
	signed, err := token.SignedString(keys.key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func mustSignSecret(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}
