package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// discoveryTimeout bounds the wait of a reader for an issuer that does not
	// answer.
	discoveryTimeout = 2 * time.Second
	maxDiscovery     = 1 << 20 // bytes
)

// issuer is the identity provider. Its endpoints may have other origins than
// its name (Amazon Cognito's and Google's do), and the page needs access to
// them.
type issuer struct {
	name   string
	own    string // origin of its name
	client *http.Client
	log    *slog.Logger

	mu    sync.Mutex
	found []string // origins, own first; nil until discovered
}

func newIssuer(c Config) (*issuer, error) {
	own, err := originOf(c.SignIn.Issuer, "https", "http")
	if err != nil {
		return nil, fmt.Errorf("the issuer: %w", err)
	}
	return &issuer{name: c.SignIn.Issuer, own: own, client: c.Client, log: c.Log}, nil
}

// origins returns the issuer's origins, which it reads once. If the issuer does
// not answer, it returns only the origin of its name, and the next call tries
// again.
func (i *issuer) origins(ctx context.Context) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.found != nil {
		return i.found
	}
	found, err := i.discover(ctx)
	if err != nil {
		i.log.WarnContext(ctx, "the issuer's endpoints could not be read", "error", err)
		return []string{i.own}
	}
	i.found = found
	return found
}

// discover reads the issuer's configuration (OpenID Connect Discovery 1.0,
// section 4) for the endpoints that scripts call; users are redirected to the
// others.
func (i *issuer) discover(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	address := strings.TrimSuffix(i.name, "/") + "/.well-known/openid-configuration"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("request the issuer's configuration: %w", err)
	}
	res, err := i.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("request the issuer's configuration: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read as far as needed
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, res.Status)
	}
	var endpoints struct {
		Token      string `json:"token_endpoint"`
		UserInfo   string `json:"userinfo_endpoint"`
		Keys       string `json:"jwks_uri"`
		Revocation string `json:"revocation_endpoint"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxDiscovery)).Decode(&endpoints); err != nil {
		return nil, fmt.Errorf("read %s: %w", address, err)
	}
	origins := []string{i.own}
	for _, endpoint := range []string{endpoints.Token, endpoints.UserInfo, endpoints.Keys, endpoints.Revocation} {
		origin, err := originOf(endpoint, "https", "http")
		if err == nil && !slices.Contains(origins, origin) { // endpoints are optional
			origins = append(origins, origin)
		}
	}
	return origins, nil
}
