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

// maxAnswerBytes is above the size of any answer that is read here.
const maxAnswerBytes = 1 << 20

// Issuer checks that the keys of the token issuer can be found (OpenID Connect
// Discovery 1.0, section 4) and used: API Gateway's JWT authorizers support RSA
// only.
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
		f.Detail = "cannot read its configuration: " + err.Error()
		f.Advice = "JwtIssuer must be its address; otherwise all tokens are refused"
	case configuration.Issuer != issuer:
		f.Detail = fmt.Sprintf("its name is %q, but JwtIssuer is %q", configuration.Issuer, issuer)
		f.Advice = "deploy with JwtIssuer equal to its name, to the last character"
	default:
		if err = read(ctx, client, configuration.Keys, &set); err != nil {
			f.Detail, f.Advice = "cannot read its keys: "+err.Error(), "ask the operator of the issuer"
		}
	}
	if f.Advice != "" {
		return []Finding{f}
	}
	n := countUsable(set.Keys)
	if n == 0 {
		f.Detail = fmt.Sprintf("none of its %d keys is an RSA key for signatures", len(set.Keys))
		f.Advice = "sign tokens with RS256: API Gateway supports no other algorithm"
		return []Finding{f}
	}
	f.Status, f.Detail = OK, fmt.Sprintf("%s, keys: %d", issuer, n)
	return []Finding{f}
}

// countUsable counts the keys that API Gateway can use.
func countUsable(keys []json.RawMessage) (n int) {
	for _, text := range keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(text) != nil {
			continue // of an unknown type
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
		return fmt.Errorf("%s returned %s", url, res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswerBytes)).Decode(into); err != nil {
		return fmt.Errorf("read %s: %w", url, err)
	}
	return nil
}

func get(ctx context.Context, client *http.Client, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", url, err)
	}
	return client.Do(req)
}
