package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/shared/transport/mcp"
)

// issuer is an authorization server at which alice agrees to everything.
type issuer struct {
	url   string
	asked url.Values // of the last request for her consent
	sold  url.Values // of the last request for a token
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, object{
			"issuer": i.url, "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		i.asked = r.URL.Query()
		back := url.Values{"code": {"consent"}, "state": {i.asked.Get("state")}}
		http.Redirect(w, r, i.asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		i.sold = r.PostForm
		answer(w, object{"access_token": alice, "token_type": "Bearer", "expires_in": 3600})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

// consent plays the browser of a user who agrees.
func consent(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	got, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	if err := got.Body.Close(); err != nil {
		return nil, err
	}
	back, err := got.Location()
	if err != nil {
		return nil, err
	}
	return &auth.AuthorizationResult{Code: back.Query().Get("code"), State: back.Query().Get("state")}, nil
}

// bare replaces challenges by that of an HTTP API's authorizer, which cannot name the
// metadata.
type bare struct{}

func (bare) RoundTrip(r *http.Request) (*http.Response, error) {
	got, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && got.StatusCode == http.StatusUnauthorized {
		got.Header.Set("WWW-Authenticate", "Bearer")
	}
	return got, err
}

func TestAnOfficialClientWithoutATokenSignsIn(t *testing.T) {
	t.Parallel()
	for name, transport := range map[string]http.RoundTripper{
		"with the server's challenge": http.DefaultTransport, "with that of the gateway": bare{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			r := newRig(t, func(c *mcp.Config) { c.OAuth = mcp.OAuth{Issuer: i.url, Scopes: []string{"openid", "rethread"}} })
			r.create(t, alice, "s", "one")
			web := &http.Client{Transport: transport}
			signIn, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
				PreregisteredClient: &oauthex.ClientCredentials{ClientID: "assistant"},
				RedirectURL:         "http://127.0.0.1/callback", AuthorizationCodeFetcher: consent, Client: web,
			})
			if err != nil {
				t.Fatal(err)
			}
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
			s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
				Endpoint: r.url, HTTPClient: web, OAuthHandler: signIn, DisableStandaloneSSE: true,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() }) // the test is over
			if got := must[sessionPage](t, s, "list_sessions", object{}); len(got.Sessions) != 1 {
				t.Errorf("got %+v", got)
			}
			scopes := strings.Fields(i.asked.Get("scope")) // the client asks for them in any order
			slices.Sort(scopes)
			if !slices.Equal(scopes, []string{"openid", "rethread"}) || i.asked.Get("resource") != r.url || i.sold.Get("resource") != r.url {
				t.Errorf("asked %v, then %v", i.asked, i.sold)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	const wellKnown = "/.well-known/oauth-protected-resource"
	r := newRig(t, func(c *mcp.Config) { c.OAuth.Issuer = "https://issuer.example/pool" })
	root := strings.TrimSuffix(r.url, "/mcp")
	for path, resource := range map[string]string{"": root, "/mcp": r.url} {
		found, err := oauthex.GetProtectedResourceMetadata(t.Context(), root+wellKnown+path, resource, contract.Client(t, root))
		if err != nil || len(found.AuthorizationServers) != 1 || found.AuthorizationServers[0] != "https://issuer.example/pool" ||
			found.ScopesSupported != nil {
			t.Errorf("%s: got %+v, %v", path, found, err)
		}
	}
	public := *r
	public.url = root + wellKnown + "/mcp"
	got := public.post(t, http.MethodGet, "", "", map[string]string{"Origin": "https://other.example", "X-Forwarded-Proto": "https", "Host": "x"})
	if got.status != http.StatusOK || !strings.Contains(got.body, `"resource":"https://`) || got.header.Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("got %+v", got)
	}
}
