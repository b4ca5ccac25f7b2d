// Package outbound calls addresses that users gave, without lending them this
// system's place in the network: requests reach the public internet only. The
// address is judged when a connection is made, after its name was resolved, so
// that a name which resolves differently the second time gains nothing. Which
// addresses are public is the matter of code.dny.dev/ssrf, which follows IANA's
// registries of special purpose addresses.
package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Errors of Check and of the client's requests.
var (
	// ErrInvalidURL says that an address is none that can be called.
	ErrInvalidURL = errors.New("not a URL that can be called")
	// ErrForbiddenAddress says that it leads, or would lead, elsewhere than to the
	// public internet.
	ErrForbiddenAddress = errors.New("not a public address")
	// ErrResponseTooLarge ends the reading of a body that is longer than allowed.
	ErrResponseTooLarge = errors.New("the response is larger than allowed")
)

// What holds where Options say nothing.
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

// Options say how to call.
type Options struct {
	// AllowLoopback lets this machine itself be called, and http beside https. It
	// is for development and tests; nothing that is deployed sets it.
	AllowLoopback bool
	// Timeout is for a whole call, its body included; zero means DefaultTimeout.
	Timeout time.Duration
	// MaxResponseBytes may be read of a body; zero means DefaultMaxResponseBytes.
	MaxResponseBytes int64
	// Resolver finds addresses; nil means the system's.
	Resolver *net.Resolver
	// RootCAs are whom certificates are trusted from; nil means the system's.
	RootCAs *x509.CertPool
}

// Guard knows which addresses may be called. It is safe for concurrent use.
type Guard struct {
	opts      Options
	addresses *ssrf.Guardian
}

// New makes a guard.
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

// Client makes a client whose every request is checked as Check does, and again
// when it connects: the error is then ErrForbiddenAddress. It follows no
// redirects, a 3xx is its answer; it asks no proxy, keeps no cookies, speaks TLS
// 1.2 or later, and gives a body out up to the limit. Make one, at the start.
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
			DisableCompression:     true, // a limit should count what was sent
			ForceAttemptHTTP2:      true,
		}},
	}
}

// control is asked before each connection, with the address it goes to.
func (g *Guard) control(network, address string, conn syscall.RawConn) error {
	if err := g.addresses.Safe(network, address, conn); err != nil {
		return fmt.Errorf("%w: %w", ErrForbiddenAddress, err)
	}
	return nil
}
