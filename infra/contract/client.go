package contract

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Reporter is the part of testing.TB that the client needs.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

type mode int

const (
	checked mode = iota
	badRequest
	offContract
)

type modeKey struct{}

// BadRequest marks requests that violate the contract on purpose: they are sent
// unchecked, but their responses are checked.
func BadRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, modeKey{}, badRequest)
}

// OffContract marks requests for unknown routes, and those that a test sends by
// the thousands: neither they nor their responses are checked.
func OffContract(ctx context.Context) context.Context {
	return context.WithValue(ctx, modeKey{}, offContract)
}

func modeOf(ctx context.Context) mode {
	m, _ := ctx.Value(modeKey{}).(mode)
	return m
}

// Client returns an HTTP client that reports every violation of the contract to
// tb. It checks requests to the API at baseURL and passes others through.
func Client(tb testing.TB, baseURL string) *http.Client {
	tb.Helper()
	spec, err := Load(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	plain := &http.Transport{MaxIdleConnsPerHost: 64}
	tb.Cleanup(plain.CloseIdleConnections)
	return &http.Client{Transport: NewTransport(tb, spec, baseURL, plain)}
}

// NewTransport checks requests and responses of next against the contract.
func NewTransport(t Reporter, spec *Spec, baseURL string, next http.RoundTripper) http.RoundTripper {
	host := baseURL
	if u, err := url.Parse(baseURL); err == nil {
		host = u.Host
	}
	return &transport{report: t, spec: spec, host: host, next: next}
}

type transport struct {
	report Reporter
	spec   *Spec
	host   string
	next   http.RoundTripper
}

// RoundTrip sends the request and reports violations on both sides.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	m := modeOf(req.Context())
	if m == offContract || req.URL.Host != t.host || !strings.HasPrefix(req.URL.Path, "/api/") {
		return t.next.RoundTrip(req)
	}
	return t.check(req, m)
}
