package identity_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/rethread/rethread/infra/local/identity"
)

func TestRemote(t *testing.T) {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	local, err := identity.New(server.URL+"/dev", audience, "", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	remote := identity.NewRemote(server.URL+"/dev", server.Client())
	if _, err := remote.Key(server.URL+"/dev", keyID(t, local)); err == nil {
		t.Error("returned a key of an issuer that does not answer yet")
	}
	mux.Handle("/dev/", local.Handler("/dev"))
	t.Run("returns an issuer's key", func(t *testing.T) {
		if _, err := remote.Key(server.URL+"/dev", keyID(t, local)); err != nil {
			t.Error(err)
		}
	})
	t.Run("refuses an unknown key and another issuer", func(t *testing.T) {
		for issuer, key := range map[string]string{server.URL + "/dev": "other", "https://other.example": keyID(t, local)} {
			if _, err := remote.Key(issuer, key); err == nil {
				t.Errorf("%s has %s", issuer, key)
			}
		}
	})
	t.Run("tokens verify", func(t *testing.T) {
		token, err := local.Token("alice", 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = jwt.Parse(token, func(token *jwt.Token) (any, error) {
			id, _ := token.Header["kid"].(string)
			return remote.Key(server.URL+"/dev", id)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func keyID(t *testing.T, i *identity.Issuer) string {
	t.Helper()
	return i.JWKS().Keys[0].KeyID
}
