package identity

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
)

const (
	maxRequestBytes = 64 << 10
	// longestLife keeps a requested number of seconds within time.Duration.
	longestLife = 10 * 365 * 24 * 3600
)

// Handler serves the issuer under prefix: POST prefix/token gives tokens, and
// whoever verifies them finds the key by OpenID discovery.
func (i *Issuer) Handler(prefix string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+prefix+"/token", i.serveToken)
	mux.HandleFunc("GET "+prefix+"/.well-known/openid-configuration", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, http.StatusOK, map[string]any{
			"issuer": i.url, "jwks_uri": i.url + "/.well-known/jwks.json",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET "+prefix+"/.well-known/jwks.json", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, http.StatusOK, i.JWKS())
	})
	return mux
}

type tokenRequest struct {
	UserID    string `json:"user_id"`
	ExpiresIn int64  `json:"expires_in"` // seconds; negative for a token that has expired
	Scope     string `json:"scope"`      // what the token allows, words separated by blanks
}

// why says what is wrong with a request, "" where nothing is.
func (r tokenRequest) why() string {
	switch {
	case r.UserID == "":
		return `send {"user_id": "alice"}, with "expires_in" in seconds if a day will not do, and "scope" if it is to allow more`
	case !access.IsUserID(r.UserID): // its token would open nothing
		return fmt.Sprintf("user_id must be at most %d characters and %d bytes", access.MaxUserID, access.MaxUserIDBytes)
	case r.ExpiresIn > longestLife || r.ExpiresIn < -longestLife:
		return fmt.Sprintf("expires_in must be at most %d seconds, or as many below 0", longestLife)
	}
	return ""
}

// readRequest returns why the body is refused beside what it says.
func readRequest(body io.Reader) (req tokenRequest, why string) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return req, fmt.Sprintf("the body must be at most %d bytes", maxRequestBytes)
	}
	if flaw := jsonx.Check(raw); flaw != nil {
		return req, strings.TrimPrefix(flaw.Pointer, "/") + " " + flaw.Reason
	}
	if json.Unmarshal(raw, &req) != nil {
		return req, tokenRequest{}.why()
	}
	return req, req.why()
}

func (i *Issuer) serveToken(rw http.ResponseWriter, r *http.Request) {
	req, why := readRequest(http.MaxBytesReader(rw, r.Body, maxRequestBytes))
	if why != "" {
		answer(rw, http.StatusBadRequest, map[string]string{"message": why})
		return
	}
	token, err := i.Scoped(req.UserID, req.Scope, time.Duration(req.ExpiresIn)*time.Second)
	if err != nil {
		answer(rw, http.StatusInternalServerError, map[string]string{"message": "the token could not be signed"})
		return
	}
	answer(rw, http.StatusOK, map[string]string{"token": token})
}

func answer(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body) // a caller that is gone needs no answer
}
