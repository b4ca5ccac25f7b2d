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
	// maxLifetime keeps a requested number of seconds within time.Duration.
	maxLifetime = 10 * 365 * 24 * 3600
)

// Handler serves the issuer under prefix: POST prefix/token issues tokens, and
// OpenID discovery publishes the key.
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
	UserID    string         `json:"user_id"`
	ExpiresIn int64          `json:"expires_in"` // seconds; negative for an expired token
	Scope     string         `json:"scope"`      // space-separated
	Claims    map[string]any `json:"claims"`     // others
}

// invalidReason returns the reason that a request is invalid, "" if it is valid.
func (r tokenRequest) invalidReason() string {
	switch {
	case r.UserID == "":
		return `send {"user_id": "alice"}; optional: "expires_in" in seconds (default: a day), "scope" and "claims"`
	case !access.IsUserID(r.UserID): // a token for it would be refused everywhere
		return fmt.Sprintf("user_id must be at most %d characters and %d bytes", access.MaxUserID, access.MaxUserIDBytes)
	case r.ExpiresIn > maxLifetime || r.ExpiresIn < -maxLifetime:
		return fmt.Sprintf("expires_in must be between -%[1]d and %[1]d seconds", maxLifetime)
	}
	return ""
}

// readRequest returns the request, or the reason that the body is invalid.
func readRequest(body io.Reader) (req tokenRequest, why string) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return req, fmt.Sprintf("the body must be at most %d bytes", maxRequestBytes)
	}
	if flaw := jsonx.Check(raw); flaw != nil {
		return req, strings.TrimPrefix(flaw.Pointer, "/") + " " + flaw.Reason
	}
	if json.Unmarshal(raw, &req) != nil {
		return req, tokenRequest{}.invalidReason()
	}
	return req, req.invalidReason()
}

func (i *Issuer) serveToken(rw http.ResponseWriter, r *http.Request) {
	req, why := readRequest(http.MaxBytesReader(rw, r.Body, maxRequestBytes))
	if why != "" {
		answer(rw, http.StatusBadRequest, map[string]string{"message": why})
		return
	}
	token, err := i.ClaimsToken(req.UserID, req.Scope, req.Claims, time.Duration(req.ExpiresIn)*time.Second)
	if err != nil {
		answer(rw, http.StatusInternalServerError, map[string]string{"message": "the token could not be signed"})
		return
	}
	answer(rw, http.StatusOK, map[string]string{"token": token})
}

func answer(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body) // the caller may have disconnected
}
