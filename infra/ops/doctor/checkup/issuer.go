package checkup

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// answerBytes is more than any answer holds that is looked at.
const answerBytes = 1 << 20

// Issuer looks whether the keys of those who issue tokens can be found (OpenID
// Connect Discovery 1.0, section 4) and used: API Gateway's JWT authorizers know
// RSA only.
func Issuer(ctx context.Context, client *http.Client, issuer string) []Finding {
	f := Finding{Name: "issuer of tokens", Status: Fail, Detail: issuer}
	if issuer == "" {
		f.Status, f.Detail = Skipped, notKnown
		return []Finding{f}
	}
	var configuration struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	err := read(ctx, client, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &configuration)
	switch {
	case err != nil:
		f.Detail = "its configuration cannot be read: " + err.Error()
		f.Advice = "JwtIssuer must be its address; without it all tokens are refused"
	case configuration.Issuer != issuer:
		f.Detail = fmt.Sprintf("it calls itself %q, and JwtIssuer is %q", configuration.Issuer, issuer)
		f.Advice = "deploy with JwtIssuer as it calls itself, to the last character"
	default:
		if err = read(ctx, client, configuration.Keys, &set); err != nil {
			f.Detail, f.Advice = "its keys cannot be read: "+err.Error(), "ask whoever runs the issuer"
		}
	}
	if f.Advice != "" {
		return []Finding{f}
	}
	n := signing(set.Keys)
	if n == 0 {
		f.Detail = fmt.Sprintf("none of its %d keys is an RSA key for signatures", len(set.Keys))
		f.Advice = "let it sign with RS256: API Gateway takes no other kind"
		return []Finding{f}
	}
	f.Status, f.Detail = OK, fmt.Sprintf("%s, keys: %d", issuer, n)
	return []Finding{f}
}

// signing counts the keys that API Gateway can use.
func signing(keys []json.RawMessage) (n int) {
	for _, text := range keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(text) != nil {
			continue // of a kind that nobody here knows
		}
		if _, ok := key.Key.(*rsa.PublicKey); ok && key.Use != "enc" {
			n++
		}
	}
	return n
}

// read gets a JSON document.
func read(ctx context.Context, client *http.Client, url string, into any) error {
	res, err := get(ctx, client, url)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read as far as needed
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, answerBytes)).Decode(into); err != nil {
		return fmt.Errorf("read %s: %w", url, err)
	}
	return nil
}

func get(ctx context.Context, client *http.Client, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	return client.Do(req)
}
