package checkup_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rethread/rethread/infra/ops/doctor/checkup"
)

// serve answers each path with a text.
func serve(t *testing.T, texts map[string]string) string {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		text, ok := texts[r.URL.Path]
		if !ok {
			http.NotFound(rw, r)
			return
		}
		if _, err := rw.Write([]byte(strings.ReplaceAll(text, "{url}", server.URL))); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func mustKeys(t *testing.T, keys ...any) string {
	t.Helper()
	var set jose.JSONWebKeySet
	for _, key := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key, KeyID: "k", Use: "sig"})
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	const configuration = "/.well-known/openid-configuration"
	named := `{"issuer": "{url}", "jwks_uri": "{url}/keys"}`
	ours, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		texts map[string]string
		want  string
	}{
		"an issuer with a usable key": {
			map[string]string{configuration: named, "/keys": mustKeys(t, &ours.PublicKey, &curve.PublicKey)}, "ok issuer of tokens: {url}, keys: 1",
		},
		"an issuer without RSA keys": {
			map[string]string{configuration: named, "/keys": mustKeys(t, &curve.PublicKey)},
			"fail issuer of tokens: none of its 1 keys is an RSA key for signatures",
		},
		"an issuer whose name has another slash": {
			map[string]string{configuration: strings.Replace(named, "{url}", "{url}/", 1)},
			`fail issuer of tokens: its name is "{url}/", but JwtIssuer is "{url}"`,
		},
		"an issuer without a configuration": {
			nil, "fail issuer of tokens: cannot read its configuration: {url}" + configuration + " returned 404 Not Found",
		},
		"an issuer without keys": {
			map[string]string{configuration: named}, "fail issuer of tokens: cannot read its keys: {url}/keys returned 404 Not Found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, test.texts)
			wantLines(t, checkup.Issuer(t.Context(), http.DefaultClient, url), strings.ReplaceAll(test.want, "{url}", url))
		})
	}
}

func TestAPI(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		status int
		there  time.Time
		want   []string
	}{
		"refuses requests without a token": {401, noon, []string{"ok API: {url} answers 401 without a token", "ok clock: this machine's clock is within 5s of the API's"}},
		"accepts requests without a token": {200, noon, []string{"fail API: {url} accepts requests without a token", "ok clock: this machine's clock is within 5s of the API's"}},
		"another API": {
			404, noon.Add(time.Minute),
			[]string{"fail API: {url} answers 404 Not Found where 401 is due", "warn clock: this machine's clock is 1m1s behind the API's"},
		},
		"another time": {
			401, noon.Add(-time.Hour),
			[]string{"ok API: {url} answers 401 without a token", "fail clock: this machine's clock is 1h0m0s ahead of the API's"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Date", test.there.Format(http.TimeFormat))
				rw.WriteHeader(test.status)
			}))
			t.Cleanup(server.Close)
			for i, line := range test.want {
				test.want[i] = strings.ReplaceAll(line, "{url}", server.URL)
			}
			found := checkup.API(t.Context(), http.DefaultClient, server.URL, func() time.Time { return noon })
			wantLines(t, found, test.want...)
		})
	}
}
