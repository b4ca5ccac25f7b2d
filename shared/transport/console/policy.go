package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy sets the headers that restrict the page: it may run only its own
// scripts and styles, connect only to its own origin, the WebSocket and the
// streaming API and the issuer, and cannot be framed. Content of a conversation, such as an agent's
// answer, can therefore neither run nor send anything.
type policy struct {
	socket string  // origin of the WebSocket API
	stream string  // origin of the streaming API; "" if it is the page's own
	issuer *issuer // nil if users do not sign in with one
}

func newPolicy(c Config) (*policy, error) {
	socket, err := originOf(c.WatchURL, "wss", "ws")
	if err != nil {
		return nil, fmt.Errorf("the WebSocket API: %w", err)
	}
	p := &policy{socket: socket}
	if c.StreamURL != "" {
		if p.stream, err = originOf(c.StreamURL, "https", "http"); err != nil {
			return nil, fmt.Errorf("the streaming API: %w", err)
		}
	}
	if c.SignIn.oidc() {
		if p.issuer, err = newIssuer(c); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// around adds the policy to every answer of a handler.
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

// content returns the Content-Security-Policy (level 3). Artifacts are shown
// from blob: URLs; markdown enters the page only through DOMPurify, which
// Trusted Types enforce.
func (p *policy) content(ctx context.Context) string {
	connect := []string{"'self'", p.socket}
	if p.stream != "" {
		connect = append(connect, p.stream)
	}
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

// originOf returns the scheme, host and port of an address with one of the
// schemes.
func originOf(address string, schemes ...string) (string, error) {
	parsed, err := url.Parse(address)
	// A host with other characters could add directives to the policy.
	if err != nil || !slices.Contains(schemes, parsed.Scheme) || parsed.Host == "" ||
		strings.ContainsAny(parsed.Host, " ;,'\"*") {
		return "", fmt.Errorf("%q is no address that starts with %s://", address, schemes[0])
	}
	return parsed.Scheme + "://" + parsed.Host, nil
}
