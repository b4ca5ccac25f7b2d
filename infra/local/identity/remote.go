package identity

import (
	"context"
	"crypto"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const fetchTimeout = 5 * time.Second

// Remote finds the keys of an issuer that runs elsewhere, for a gateway. It is
// safe for concurrent use.
type Remote struct {
	issuer string
	client *http.Client

	mu   sync.Mutex
	keys jose.JSONWebKeySet
}

// NewRemote makes no request: the issuer may start after the local system.
func NewRemote(issuer string, client *http.Client) *Remote {
	return &Remote{issuer: issuer, client: client}
}

// Key returns the issuer's public key; an unknown key is fetched.
func (r *Remote) Key(issuer, keyID string) (crypto.PublicKey, error) {
	if issuer != r.issuer {
		return nil, errNoKey
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys.Key(keyID)) == 0 {
		if err := r.fetch(); err != nil {
			return nil, err
		}
	}
	found := r.keys.Key(keyID)
	if len(found) == 0 {
		return nil, errNoKey
	}
	return found[0].Key, nil
}

// fetch reads the keys from the address in the issuer's configuration (OpenID
// Connect Discovery 1.0, section 4).
func (r *Remote) fetch() error {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	var configuration struct {
		Keys string `json:"jwks_uri"`
	}
	address := strings.TrimSuffix(r.issuer, "/") + "/.well-known/openid-configuration"
	if err := r.get(ctx, address, &configuration); err != nil {
		return err
	}
	return r.get(ctx, configuration.Keys, &r.keys)
}

func (r *Remote) get(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("request to the issuer: %w", err)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("request to the issuer: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read as far as needed
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s returned %s", address, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return fmt.Errorf("read %s: %w", address, err)
	}
	return nil
}
