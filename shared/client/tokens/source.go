package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	configurationPath = "/.well-known/openid-configuration"
	maxDocumentBytes  = 1 << 20
)

var errNoKeys = errors.New("there is no key to check tokens with")

// source is the place at which an issuer publishes its keys.
type source struct {
	issuer string
	scheme string // of the issuer's address; the keys must have the same
	client *http.Client
}

// fetch reads the issuer's configuration and the keys that it names (OpenID Connect
// Discovery 1.0, section 4; RFC 7517, section 5). Keys of unknown types are left out.
func (s source) fetch(ctx context.Context) (jose.JSONWebKeySet, error) {
	var configuration struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := s.get(ctx, strings.TrimSuffix(s.issuer, "/")+configurationPath, &configuration); err != nil {
		return jose.JSONWebKeySet{}, err
	}
	if configuration.Issuer != s.issuer {
		return jose.JSONWebKeySet{}, fmt.Errorf("the configuration of %s is of issuer %.200q", s.issuer, configuration.Issuer)
	}
	address, err := url.Parse(configuration.Keys)
	if err != nil || address.Scheme != s.scheme {
		return jose.JSONWebKeySet{}, fmt.Errorf("jwks_uri %.200q is no %s address", configuration.Keys, s.scheme)
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.get(ctx, address.String(), &document); err != nil {
		return jose.JSONWebKeySet{}, err
	}
	return readable(document.Keys)
}

func readable(texts []json.RawMessage) (jose.JSONWebKeySet, error) {
	var set jose.JSONWebKeySet
	faults := errNoKeys
	for _, text := range texts {
		var key jose.JSONWebKey
		if err := key.UnmarshalJSON(text); err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		set.Keys = append(set.Keys, key)
	}
	if len(set.Keys) == 0 {
		return set, fmt.Errorf("read the issuer's %d keys: %w", len(texts), faults)
	}
	return set, nil
}

func (s source) get(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask the issuer: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the issuer: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read as far as needed
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxDocumentBytes)).Decode(into); err != nil {
		return fmt.Errorf("read %s: %w", address, err)
	}
	return nil
}
