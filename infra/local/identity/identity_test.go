package identity_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"github.com/rethread/rethread/infra/local/identity"
)

const (
	url      = "http://127.0.0.1:3000/dev"
	audience = "rethread"
)

func TestIssuer(t *testing.T) {
	dir := t.TempDir()
	issuer := mustIssuer(t, dir)
	t.Run("tokens verify with the published keys", func(t *testing.T) {
		token, err := issuer.Token("alice", 0)
		if err != nil {
			t.Fatal(err)
		}
		var keys jose.JSONWebKeySet
		if err := json.Unmarshal([]byte(get(t, issuer, "GET", "/dev/.well-known/jwks.json", "", 200)), &keys); err != nil {
			t.Fatal(err)
		}
		if subject := mustVerify(t, token, keys); subject != "alice" {
			t.Errorf("subject %q", subject)
		}
		if _, err := issuer.Key("http://other", keys.Keys[0].KeyID); err == nil {
			t.Error("Key returned a key of another issuer")
		}
	})
	t.Run("discovery names the keys' address", func(t *testing.T) {
		body := get(t, issuer, "GET", "/dev/.well-known/openid-configuration", "", 200)
		if want := `"jwks_uri":"` + url + `/.well-known/jwks.json"`; !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", body, want)
		}
	})
	t.Run("keeps the key across a restart", func(t *testing.T) {
		token, err := issuer.Token("alice", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		mustVerify(t, token, mustIssuer(t, dir).JWKS())
	})
	t.Run("makes a new key for each start without a folder", func(t *testing.T) {
		first, second := mustIssuer(t, ""), mustIssuer(t, "")
		if first.JWKS().Keys[0].KeyID == second.JWKS().Keys[0].KeyID {
			t.Error("both have the same key")
		}
	})
	for _, test := range []struct {
		name, body string
		status     int
		says       string
	}{
		{"returns a token", `{"user_id": "bob"}`, 200, "token"},
		{"returns an expired token", `{"user_id": "bob", "expires_in": -60}`, 200, "token"},
		{"accepts the longest user id", `{"user_id": "` + strings.Repeat("ü", 256) + `"}`, 200, "token"},
		{"refuses a missing user id", `{}`, 400, "user_id"},
		{"refuses invalid JSON", `bob`, 400, "user_id"},
		{"refuses an expiry too far away", `{"user_id": "bob", "expires_in": 9999999999}`, 400, "expires_in"},
		{"refuses a user id with too many characters", `{"user_id": "` + strings.Repeat("x", 257) + `"}`, 400, "user_id must be at most 256"},
		{"refuses a user id with too many bytes", `{"user_id": "` + strings.Repeat("😀", 193) + `"}`, 400, "768 bytes"},
		{"refuses half a surrogate pair", `{"user_id": "\ud800"}`, 400, "user_id"},
		{"refuses invalid UTF-8", "{\"user_id\": \"\xff\"}", 400, "user_id"},
		{"refuses a body that is too large", `{"user_id": "` + strings.Repeat("x", 65<<10) + `"}`, 400, "body"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := get(t, issuer, "POST", "/dev/token", test.body, test.status); !strings.Contains(got, test.says) {
				t.Errorf("%s does not contain %s", got, test.says)
			}
		})
	}
}

func mustIssuer(t *testing.T, dir string) *identity.Issuer {
	t.Helper()
	issuer, err := identity.New(url, audience, dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return issuer
}

func mustVerify(t *testing.T, token string, keys jose.JSONWebKeySet) string {
	t.Helper()
	parsed, err := jwt.Parse(token, func(token *jwt.Token) (any, error) {
		id, _ := token.Header["kid"].(string)
		return keys.Key(id)[0].Key, nil
	}, jwt.WithIssuer(url), jwt.WithAudience(audience), jwt.WithExpirationRequired())
	if err != nil {
		t.Fatal(err)
	}
	subject, err := parsed.Claims.GetSubject()
	if err != nil {
		t.Fatal(err)
	}
	return subject
}

func get(t *testing.T, issuer *identity.Issuer, method, path, body string, status int) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	issuer.Handler("/dev").ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	if recorder.Code != status || recorder.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%s %s: %d %s, want %d", method, path, recorder.Code, recorder.Body, status)
	}
	return recorder.Body.String()
}
