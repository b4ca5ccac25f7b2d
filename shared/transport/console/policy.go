package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy is what browsers are told the page may do: run its own scripts and
// styles and nothing else, ask its own origin, the WebSocket API and the issuer
// and nobody else, and be shown in no other page. What a conversation holds, an
// agent's answer among it, can then neither run nor send anything.
type policy struct {
	socket string  // origin of the WebSocket API
	issuer *issuer // nil where nobody signs in with one
}

func newPolicy(c Config) (*policy, error) {
	socket, err := originOf(c.WatchURL, "wss", "ws")
	if err != nil {
		return nil, fmt.Errorf("the WebSocket API: %w", err)
	}
	p := &policy{socket: socket}
	if c.SignIn.oidc() {
		if p.issuer, err = newIssuer(c); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// around lays the policy on every answer of a handler.
func (p *policy) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", p.content(r.Context()))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		next.ServeHTTP(w, r)
	})
}

// content is the Content-Security-Policy (level 3). Artifacts are shown from
// blob: addresses; markdown gets into the page through DOMPurify alone, which
// Trusted Types hold the page to.
func (p *policy) content(ctx context.Context) string {
	connect := []string{"'self'", p.socket}
	if p.issuer != nil {
		connect = append(connect, p.issuer.origins(ctx)...)
	}
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		"img-src 'self' blob: data:",
		"media-src blob:",
		"manifest-src 'self'",
		"connect-src " + strings.Join(connect, " "),
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types dompurify",
	}, "; ")
}

// originOf is the scheme, host and port of an address of one of the schemes.
func originOf(address string, schemes ...string) (string, error) {
	parsed, err := url.Parse(address)
	// A host with other signs than these could add directives to the policy.
	if err != nil || !slices.Contains(schemes, parsed.Scheme) || parsed.Host == "" ||
		strings.ContainsAny(parsed.Host, " ;,'\"*") {
		return "", fmt.Errorf("%q is no address that starts with %s://", address, schemes[0])
	}
	return parsed.Scheme + "://" + parsed.Host, nil
}
