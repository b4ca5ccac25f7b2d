package outbound

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	maxNameLength  = 253 // RFC 1035, section 2.3.4, without the root's dot
	maxLabelLength = 63
	loopbackName   = "localhost"
)

// Check checks whether an address may be configured for later calls: https, without a
// user, with a host that is a public address or may be a public name. It does not
// resolve names, because a name may resolve differently by the time it is called. The
// error is ErrInvalidURL or ErrForbiddenAddress with the reason.
func (g *Guard) Check(rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil { // its text repeats the address, which may contain a password
		return fmt.Errorf("%w: it cannot be parsed", ErrInvalidURL)
	}
	return g.check(u)
}

func (g *Guard) check(u *url.URL) error {
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !g.opts.AllowLoopback):
		return fmt.Errorf("%w: its scheme must be https", ErrInvalidURL)
	case u.User != nil:
		return fmt.Errorf("%w: it must name no user", ErrInvalidURL)
	case u.Opaque != "" || u.Hostname() == "":
		return fmt.Errorf("%w: it has no host", ErrInvalidURL)
	}
	if err := checkPort(u.Port()); err != nil {
		return err
	}
	if address, err := netip.ParseAddr(u.Hostname()); err == nil {
		return g.checkAddress(address)
	}
	return g.checkName(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")))
}

func checkPort(port string) error {
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%w: its port goes from 1 to 65535", ErrInvalidURL)
	}
	return nil
}

func (g *Guard) checkAddress(address netip.Addr) error {
	if err := g.addresses.SafeAddr(address); err != nil {
		return fmt.Errorf("%w: %s", ErrForbiddenAddress, address)
	}
	return nil
}

// checkName checks a host that is not an address in the usual form.
func (g *Guard) checkName(name string) error {
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	switch {
	case len(name) > maxNameLength || slices.ContainsFunc(labels, isBadLabel):
		return fmt.Errorf("%w: its host is no name; one in another script is written in its xn-- form", ErrInvalidURL)
	case isNumber(last):
		return fmt.Errorf("%w: a host that ends in a number must be four decimal ones", ErrInvalidURL)
	case last == loopbackName:
		if g.opts.AllowLoopback {
			return nil
		}
		return fmt.Errorf("%w: %s", ErrForbiddenAddress, loopbackName)
	case len(labels) == 1, last == "internal", last == "local", strings.HasSuffix(name, ".home.arpa"):
		return fmt.Errorf("%w: %s is a name of a private network", ErrForbiddenAddress, name)
	}
	return nil
}

// isBadLabel allows the underscore, which is in use although hosts should not contain
// it.
func isBadLabel(label string) bool {
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	return label == "" || len(label) > maxLabelLength || strings.ContainsFunc(label, bad)
}

// isNumber recognises parts of addresses in the forms of inet_aton, which some
// resolvers accept: decimal, octal and hexadecimal.
func isNumber(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	digits, hexadecimal := strings.CutPrefix(label, "0x")
	return hexadecimal && strings.Trim(digits, "0123456789abcdef") == ""
}
