package tokens_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/rethread/rethread/infra/local/identity"
	"github.com/rethread/rethread/shared/client/tokens"
)

const audience = "rethread"

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// Now returns the clock's time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// site is an issuer's HTTP server, whose handler tests replace.
type site struct {
	url string // the issuer in tokens
	dir string // the directory of its key

	mu       sync.Mutex
	handler  http.Handler
	readings int
}

// newSite starts an issuer.
func newSite(t *testing.T, now func() time.Time) (*site, *identity.Issuer) {
	t.Helper()
	s := &site{dir: t.TempDir()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/dev"
	issuer := mustIssuer(t, s.url, audience, s.dir, now)
	s.serve(issuer.Handler("/dev"))
	return s, issuer
}

// serve replaces the handler.
func (s *site) serve(h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = h
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if strings.HasSuffix(r.URL.Path, "/openid-configuration") {
		s.readings++
	}
	h := s.handler
	s.mu.Unlock()
	h.ServeHTTP(rw, r)
}

// asked returns how often a reading of the keys began.
func (s *site) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readings
}

// key returns the issuer's key.
func (s *site) key(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "identity.pem"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mustIssuer(t *testing.T, url, audience, dir string, now func() time.Time) *identity.Issuer {
	t.Helper()
	issuer, err := identity.New(url, audience, dir, now)
	if err != nil {
		t.Fatal(err)
	}
	return issuer
}

func mustToken(t *testing.T, issuer *identity.Issuer, life time.Duration) string {
	t.Helper()
	token, err := issuer.Token("alice", life)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func mustVerifier(t *testing.T, issuer string, now func() time.Time) *tokens.Verifier {
	t.Helper()
	verifier, err := tokens.New(tokens.Config{
		Issuer: issuer, Audiences: []string{"other", audience},
		Client: &http.Client{}, Now: now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

// mustSign makes a token with additional header members.
func mustSign(t *testing.T, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	for name, value := range header {
		token.Header[name] = value
	}
	signed, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}
