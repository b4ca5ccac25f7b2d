package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Errors of Check and of the client's requests.
var (
	// ErrInvalidURL says that an address cannot be called.
	ErrInvalidURL = errors.New("not a URL that can be called")
	// ErrForbiddenAddress says that an address is not, or does not resolve to, one of
	// the public internet.
	ErrForbiddenAddress = errors.New("not a public address")
	// ErrResponseTooLarge says that a body is longer than allowed.
	ErrResponseTooLarge = errors.New("the response is larger than allowed")
)

// Defaults of Options.
const (
	DefaultTimeout          = 10 * time.Second
	DefaultMaxResponseBytes = 64 << 10
)

const (
	connectTimeout   = 5 * time.Second
	maxHeaderBytes   = 64 << 10
	maxIdle          = 16
	maxIdlePerHost   = 2
	idleConnTimeout  = 30 * time.Second
	keepAlivePeriod  = 15 * time.Second
	loopbackPrefixV4 = "127.0.0.0/8"
	loopbackPrefixV6 = "::1/128"
)

// Options configure the client.
type Options struct {
	// AllowLoopback allows loopback addresses, and http besides https. It is for
	// development and tests; nothing deployed sets it.
	AllowLoopback bool
	// Timeout limits a whole call, including its body; zero means DefaultTimeout.
	Timeout time.Duration
	// MaxResponseBytes limits what is read of a body; zero means
	// DefaultMaxResponseBytes.
	MaxResponseBytes int64
	// Resolver resolves names; nil means the system's.
	Resolver *net.Resolver
	// RootCAs are the trusted authorities; nil means the system's.
	RootCAs *x509.CertPool
}

// loopbackVariable is the environment variable that allows deliveries to this machine; only
// the local host sets it.
const loopbackVariable = "OUTBOUND_ALLOW_LOOPBACK"

// FromEnvironment returns the guard of a function.
func FromEnvironment() *Guard {
	return New(Options{AllowLoopback: os.Getenv(loopbackVariable) == "true"})
}

// Guard decides which addresses may be called. It is safe for concurrent use.
type Guard struct {
	opts      Options
	addresses *ssrf.Guardian
}

// New returns a guard.
func New(opts Options) *Guard {
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.MaxResponseBytes == 0 {
		opts.MaxResponseBytes = DefaultMaxResponseBytes
	}
	rules := []ssrf.Option{ssrf.WithAnyPort()}
	if opts.AllowLoopback {
		rules = append(rules,
			ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix(loopbackPrefixV4)),
			ssrf.WithAllowedV6Prefixes(netip.MustParsePrefix(loopbackPrefixV6)))
	}
	return &Guard{opts: opts, addresses: ssrf.New(rules...)}
}

// Client returns a client that checks the address of every request like Check, and
// again when it connects: the error is then ErrForbiddenAddress. It returns redirects
// instead of following them, uses no proxy, keeps no cookies, requires TLS 1.2 or
// later, and limits the size of bodies. It should be made once, at the start.
func (g *Guard) Client() *http.Client {
	dialer := &net.Dialer{
		Timeout: connectTimeout, KeepAlive: keepAlivePeriod, Resolver: g.opts.Resolver, Control: g.control,
	}
	return &http.Client{
		Timeout:       g.opts.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &guarded{guard: g, next: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: g.opts.RootCAs},
			TLSHandshakeTimeout:    connectTimeout,
			MaxResponseHeaderBytes: maxHeaderBytes,
			MaxIdleConns:           maxIdle,
			MaxIdleConnsPerHost:    maxIdlePerHost,
			IdleConnTimeout:        idleConnTimeout,
			DisableCompression:     true, // the limit counts the bytes on the wire
			ForceAttemptHTTP2:      true,
		}},
	}
}

// control checks the address of each connection.
func (g *Guard) control(network, address string, conn syscall.RawConn) error {
	if err := g.addresses.Safe(network, address, conn); err != nil {
		return fmt.Errorf("%w: %w", ErrForbiddenAddress, err)
	}
	return nil
}
