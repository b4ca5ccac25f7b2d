package tokens_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/rethread/rethread/shared/client/tokens"
)

func TestKeys(t *testing.T) {
	t.Run("are read once for concurrent callers", func(t *testing.T) {
		site, issuer := newSite(t, time.Now)
		verifier, token := mustVerifier(t, site.url, time.Now), mustToken(t, issuer, 0)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if _, err := verifier.Verify(t.Context(), token); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		wantAsked(t, site, 1)
	})
	t.Run("are not read for a token that is invalid anyway", func(t *testing.T) {
		site, _ := newSite(t, time.Now)
		verifier := mustVerifier(t, site.url, time.Now)
		wantErr(t, verifier, mustSign(t, jwt.SigningMethodHS256, []byte("secret"), nil, nil), tokens.ErrInvalid)
		wantAsked(t, site, 0)
	})
	t.Run("are read at most twice a minute for unknown ids", func(t *testing.T) {
		clock := newClock()
		site, issuer := newSite(t, clock.Now)
		verifier, key := mustVerifier(t, site.url, clock.Now), site.key(t)
		flood := func() {
			for i := range 50 {
				header := map[string]any{"kid": fmt.Sprint("made up ", i)}
				wantErr(t, verifier, mustSign(t, jwt.SigningMethodRS256, key, header, nil), tokens.ErrInvalid)
			}
			if _, err := verifier.Verify(t.Context(), mustToken(t, issuer, 0)); err != nil {
				t.Error(err)
			}
		}
		flood()
		wantAsked(t, site, 1)
		clock.pass(30 * time.Second)
		flood()
		wantAsked(t, site, 2)
	})
	t.Run("are replaced when the issuer replaces its keys", func(t *testing.T) {
		clock := newClock()
		site, issuer := newSite(t, clock.Now)
		verifier, old := mustVerifier(t, site.url, clock.Now), mustToken(t, issuer, 0)
		wantErr(t, verifier, old, nil)
		clock.pass(time.Minute)
		next := mustIssuer(t, site.url, audience, "", clock.Now)
		site.serve(next.Handler("/dev"))
		wantErr(t, verifier, old, nil) // a known key needs no request
		wantErr(t, verifier, mustToken(t, next, 0), nil)
		wantErr(t, verifier, old, tokens.ErrInvalid)
		wantAsked(t, site, 2)
	})
	t.Run("that the issuer removed are used for at most an hour", func(t *testing.T) {
		clock := newClock()
		site, issuer := newSite(t, clock.Now)
		verifier, old := mustVerifier(t, site.url, clock.Now), mustToken(t, issuer, 0)
		wantErr(t, verifier, old, nil)
		site.serve(mustIssuer(t, site.url, audience, "", clock.Now).Handler("/dev"))
		clock.pass(time.Hour)
		wantErr(t, verifier, old, tokens.ErrInvalid)
	})
	t.Run("are used for two hours while the issuer is down", func(t *testing.T) {
		clock := newClock()
		site, issuer := newSite(t, clock.Now)
		verifier, token := mustVerifier(t, site.url, clock.Now), mustToken(t, issuer, 0)
		wantErr(t, verifier, token, nil)
		site.serve(http.HandlerFunc(broken))
		clock.pass(2*time.Hour - time.Second)
		wantErr(t, verifier, token, nil)
		clock.pass(time.Second)
		wantErr(t, verifier, token, tokens.ErrUnavailable)
	})
	t.Run("of an issuer that is down leave a token undecided, with few requests", func(t *testing.T) {
		clock := newClock()
		site, issuer := newSite(t, clock.Now)
		verifier, token := mustVerifier(t, site.url, clock.Now), mustToken(t, issuer, 0)
		site.serve(http.HandlerFunc(broken))
		for range 10 {
			wantErr(t, verifier, token, tokens.ErrUnavailable)
		}
		wantAsked(t, site, 1)
		site.serve(issuer.Handler("/dev"))
		clock.pass(5 * time.Second)
		wantErr(t, verifier, token, nil)
	})
	t.Run("of an issuer that does not answer are awaited until the caller's deadline", func(t *testing.T) {
		site, issuer := newSite(t, time.Now)
		verifier, token := mustVerifier(t, site.url, time.Now), mustToken(t, issuer, 0)
		came, over := make(chan struct{}), make(chan struct{})
		t.Cleanup(func() { close(over) })
		site.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(came)
			<-over
		}))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-came
			cancel()
		}()
		if _, err := verifier.Verify(ctx, token); !errors.Is(err, tokens.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func TestPublishedKeys(t *testing.T) {
	const elsewhere = `{"kty":"OKP","crv":"X448","kid":"k","x":"AA"}`
	for name, test := range map[string]struct {
		configuration func(site string) string // nil for the correct one
		keys          func(own string) string
		want          error
	}{
		"next to keys of unknown types are found": {keys: func(own string) string { return `{"keys":[` + elsewhere + `,{"kty":"?"},` + own + `]}` }},
		"for encryption are not used": {
			keys: func(own string) string { return `{"keys":[` + strings.Replace(own, `"sig"`, `"enc"`, 1) + `]}` }, want: tokens.ErrInvalid,
		},
		"of unknown types only are unavailable": {keys: func(string) string { return `{"keys":[` + elsewhere + `]}` }, want: tokens.ErrUnavailable},
		"that are empty are unavailable":        {keys: func(string) string { return `{"keys":[]}` }, want: tokens.ErrUnavailable},
		"that are not JSON are unavailable":     {keys: func(string) string { return `<html>` }, want: tokens.ErrUnavailable},
		"that are too long are unavailable": {
			keys: func(own string) string { return `{"x":"` + strings.Repeat("x", 2<<20) + `","keys":[` + own + `]}` }, want: tokens.ErrUnavailable,
		},
		"of another issuer are not used": {
			configuration: func(site string) string {
				return `{"issuer":"https://other.example","jwks_uri":"` + site + `/.well-known/jwks.json"}`
			}, want: tokens.ErrUnavailable,
		},
		"that do not exist are unavailable": {
			configuration: func(site string) string { return `{"issuer":"` + site + `"}` }, want: tokens.ErrUnavailable,
		},
		"at an address of another scheme are not used": {
			configuration: func(site string) string { return `{"issuer":"` + site + `","jwks_uri":"file:///etc/keys"}` }, want: tokens.ErrUnavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			site, issuer := newSite(t, time.Now)
			own, err := json.Marshal(issuer.JWKS().Keys[0])
			if err != nil {
				t.Fatal(err)
			}
			mux := http.NewServeMux()
			mux.Handle("/", issuer.Handler("/dev"))
			if test.configuration != nil {
				mux.HandleFunc("/dev/.well-known/openid-configuration", say(test.configuration(site.url)))
			}
			if test.keys != nil {
				mux.HandleFunc("/dev/.well-known/jwks.json", say(test.keys(string(own))))
			}
			site.serve(mux)
			wantErr(t, mustVerifier(t, site.url, time.Now), mustToken(t, issuer, 0), test.want)
		})
	}
}

func wantErr(t *testing.T, verifier *tokens.Verifier, token string, want error) {
	t.Helper()
	if _, err := verifier.Verify(t.Context(), token); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func wantAsked(t *testing.T, s *site, want int) {
	t.Helper()
	if got := s.asked(); got != want {
		t.Errorf("the issuer was asked %d times, want %d", got, want)
	}
}

func broken(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) }

func say(text string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(text)) }
}

func mustRSA(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
