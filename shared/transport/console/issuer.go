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
	// discoveryTimeout bounds what an issuer that does not answer costs a reader.
	discoveryTimeout = 2 * time.Second
	maxDiscovery     = 1 << 20 // bytes
)

// issuer is who signs people in. Its endpoints may have other origins than its
// name has (Amazon Cognito's and Google's do), and the page must be let ask them.
type issuer struct {
	name   string
	own    string // the origin of its name
	client *http.Client
	log    *slog.Logger

	mu    sync.Mutex
	found []string // origins, own the first; nil until it has said its endpoints
}

func newIssuer(c Config) (*issuer, error) {
	own, err := originOf(c.SignIn.Issuer, "https", "http")
	if err != nil {
		return nil, fmt.Errorf("the issuer: %w", err)
	}
	return &issuer{name: c.SignIn.Issuer, own: own, client: c.Client, log: c.Log}, nil
}

// origins asks the issuer once. As long as it does not answer, its own origin is
// all there is, and the next page asks again.
func (i *issuer) origins(ctx context.Context) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.found != nil {
		return i.found
	}
	found, err := i.discover(ctx)
	if err != nil {
		i.log.WarnContext(ctx, "the issuer's endpoints are not known", "error", err)
		return []string{i.own}
	}
	i.found = found
	return found
}

// discover reads the issuer's configuration (OpenID Connect Discovery 1.0,
// section 4) for the endpoints that scripts call; to the others people are sent.
func (i *issuer) discover(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	address := strings.TrimSuffix(i.name, "/") + "/.well-known/openid-configuration"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask the issuer: %w", err)
	}
	res, err := i.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the issuer: %w", err)
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
		if err == nil && !slices.Contains(origins, origin) { // an issuer need not have them all
			origins = append(origins, origin)
		}
	}
	return origins, nil
}
