package console_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/transport/console"
)

func TestConfiguration(t *testing.T) {
	for _, test := range []struct {
		name   string
		signIn console.SignIn
		want   string
	}{
		{"without sign-in", console.SignIn{Issuer: "https://issuer.example"}, `{"kind":"none"}`},
		{
			"in local development",
			console.SignIn{DevTokenURL: "/dev/token", Issuer: "http://here/dev", ClientID: "c"},
			`{"kind":"dev","token_url":"/dev/token"}`,
		},
		{
			"with an issuer",
			console.SignIn{Issuer: "https://issuer.example/p", ClientID: "c", Scope: "openid a<b"},
			`{"kind":"oidc","issuer":"https://issuer.example/p","client_id":"c","scope":"openid a<b"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := config()
			c.SignIn, c.Client = test.signIn, unreachable()
			res := send(t, mustNew(t, c), http.MethodGet, "/console/config.json")
			want := `{"watch_url":"wss://ws.example/live","sign_in":` + test.want + `}`
			if got := res.Body.String(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if h := res.Header(); h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", h)
			}
		})
	}
}

func TestPrices(t *testing.T) {
	c := config()
	c.Prices = ` {"gpt-5": {"input": 1.25, "output": 10, "cached": 0.125}, "demo": {"input": 0, "output": 2}} `
	got := send(t, mustNew(t, c), http.MethodGet, "/console/config.json").Body.String()
	if want := `"prices":{"demo":{"input":0,"output":2},"gpt-5":{"input":1.25,"output":10,"cached":0.125}}}`; !strings.HasSuffix(got, want) {
		t.Errorf("the configuration is %s, without %s", got, want)
	}
	for _, broken := range []string{
		`{`, `[]`, `{"a": 1}`, `{"a": {}}`, `{"a": {"input": 1}}`, `{"a": {"input": -1, "output": 1}}`,
		`{"a": {"input": 1, "output": "1"}}`, `{"a": {"input": 1, "output": 1, "each": 1}}`, `{} {}`,
	} {
		c.Prices = broken
		if _, err := console.New(c); err == nil {
			t.Errorf("%s is accepted", broken)
		}
	}
}

func TestTraceURL(t *testing.T) {
	c := config()
	c.TraceURL = "https://traces.example/t/{trace_id}?v=1"
	got := send(t, mustNew(t, c), http.MethodGet, "/console/config.json").Body.String()
	if want := `"trace_url":"https://traces.example/t/{trace_id}?v=1"`; !strings.Contains(got, want) {
		t.Errorf("the configuration is %s, without %s", got, want)
	}
	for _, broken := range []string{"https://traces.example", "javascript:alert({trace_id})", "/t/{trace_id}", "https:///{trace_id}"} {
		c.TraceURL = broken
		if _, err := console.New(c); err == nil {
			t.Errorf("%s is accepted", broken)
		}
	}
}

func TestStreamURL(t *testing.T) {
	c := config()
	c.StreamURL = "https://stream.example/live"
	h := mustNew(t, c)
	if got, want := send(t, h, http.MethodGet, "/console/config.json").Body.String(), `"stream_url":"https://stream.example/live"`; !strings.Contains(got, want) {
		t.Errorf("the configuration is %s, without %s", got, want)
	}
	policy := send(t, h, http.MethodGet, "/console").Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "connect-src 'self' wss://ws.example https://stream.example;") {
		t.Errorf("the policy is %q", policy)
	}
	c.StreamURL = "ftp://stream.example"
	if _, err := console.New(c); err == nil {
		t.Error("an address of another scheme is accepted")
	}
}

func TestPolicy(t *testing.T) {
	t.Run("is part of every answer", func(t *testing.T) {
		h := mustNew(t, config())
		for _, path := range []string{"/", "/console", script, "/console/assets/gone.js", "/console/config.json"} {
			header := send(t, h, http.MethodGet, path).Header()
			got := map[string]string{}
			for _, name := range []string{
				"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy",
			} {
				got[name] = header.Get(name)
			}
			want := map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; " +
					"img-src 'self' blob: data:; media-src blob:; manifest-src 'self'; " +
					"connect-src 'self' wss://ws.example; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
					"require-trusted-types-for 'script'; trusted-types dompurify",
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
	})
	t.Run("allows all endpoints of the issuer", func(t *testing.T) {
		issuer, requests := newIssuer(t, `{"token_endpoint": "https://token.example/oauth2/token",
			"userinfo_endpoint": "https://token.example/userinfo", "jwks_uri": "https://keys.example:8443/k"}`)
		h := mustNew(t, signedInWith(issuer.URL+"/pool"))
		for range 3 {
			want := "'self' wss://ws.example " + issuer.URL + " https://token.example https://keys.example:8443"
			if got := connectSources(t, h); got != want {
				t.Errorf("connect-src %s, want %s", got, want)
			}
		}
		if n := requests.Load(); n != 1 {
			t.Errorf("the issuer got %d requests", n)
		}
	})
	t.Run("retries an issuer that does not answer", func(t *testing.T) {
		issuer, requests := newIssuer(t, "no JSON")
		h := mustNew(t, signedInWith(issuer.URL+"/pool"))
		for range 2 {
			if got, want := connectSources(t, h), "'self' wss://ws.example "+issuer.URL; got != want {
				t.Errorf("connect-src %s, want %s", got, want)
			}
		}
		if n := requests.Load(); n != 2 {
			t.Errorf("the issuer got %d requests", n)
		}
	})
	t.Run("accepts only origins from the issuer's answer", func(t *testing.T) {
		issuer, _ := newIssuer(t, `{"token_endpoint": "https://x.example; script-src *", "jwks_uri": "javascript:alert(1)",
			"userinfo_endpoint": "https://*/u"}`)
		if got, want := connectSources(t, mustNew(t, signedInWith(issuer.URL+"/pool"))), "'self' wss://ws.example "+issuer.URL; got != want {
			t.Errorf("connect-src %s, want %s", got, want)
		}
	})
	t.Run("refuses invalid addresses at the start", func(t *testing.T) {
		for _, c := range []console.Config{{}, {WatchURL: "https://ws.example"}, {WatchURL: "wss://a b"}, signedInWith("issuer.example")} {
			if _, err := console.New(c); err == nil {
				t.Errorf("%+v was accepted", c)
			}
		}
	})
}

func connectSources(t *testing.T, h http.Handler) string {
	t.Helper()
	_, rest, _ := strings.Cut(send(t, h, http.MethodGet, "/console").Header().Get("Content-Security-Policy"), "connect-src ")
	sources, _, _ := strings.Cut(rest, ";")
	return sources
}

func signedInWith(issuer string) console.Config {
	c := config()
	c.SignIn = console.SignIn{Issuer: issuer, ClientID: "console", Scope: "openid"}
	return c
}

// newIssuer serves a discovery document and counts the requests.
func newIssuer(t *testing.T, document string) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	requests := &atomic.Int32{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pool/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = w.Write([]byte(document))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server, requests
}

// unreachable returns a client whose requests all fail.
func unreachable() *http.Client {
	return &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, http.ErrServerClosed })}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
