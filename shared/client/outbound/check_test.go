package outbound_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/client/outbound"
)

func TestCheck(t *testing.T) {
	invalid, forbidden := outbound.ErrInvalidURL, outbound.ErrForbiddenAddress
	for _, test := range []struct {
		name, url   string
		want, local error // local is the result if loopback is allowed
	}{
		{"a public name", "https://hooks.example.com/path?a=b#c", nil, nil},
		{"a public name with a port and the root's dot", "https://hooks.example.com.:8443/", nil, nil},
		{"upper case", "HTTPS://HOOKS.EXAMPLE.COM/", nil, nil},
		{"a name of another script in its ASCII form", "https://xn--bcher-kva.example/", nil, nil},
		{"an underscore", "https://a_b.example.com/", nil, nil},
		{"a public address", "https://93.184.216.34/", nil, nil},
		{"a public address of version 6", "https://[2606:2800:220:1:248:1893:25c8:1946]:8443/", nil, nil},

		{"http", "http://hooks.example.com/", invalid, nil},
		{"another scheme", "ftp://hooks.example.com/", invalid, invalid},
		{"no scheme", "//hooks.example.com/", invalid, invalid},
		{"nothing", "", invalid, invalid},
		{"no host", "https:///path", invalid, invalid},
		{"no host but a port", "https://:443/", invalid, invalid},
		{"an opaque address", "https:hooks.example.com", invalid, invalid},
		{"a user", "https://user@hooks.example.com/", invalid, invalid},
		{"a user and a password", "https://user:secret@hooks.example.com/", invalid, invalid},
		{"a host that looks like a user", "https://hooks.example.com@127.0.0.1/", invalid, invalid},
		{"port 0", "https://hooks.example.com:0/", invalid, invalid},
		{"a port too high", "https://hooks.example.com:65536/", invalid, invalid},
		{"a port that is no number", "https://hooks.example.com:https/", invalid, invalid},
		{"an empty label", "https://hooks..example.com/", invalid, invalid},
		{"a label too long", "https://" + strings.Repeat("a", 64) + ".example.com/", invalid, invalid},
		{"a name too long", "https://" + strings.Repeat("a.", 130) + "com/", invalid, invalid},
		{"letters that fold into digits", "https://①②⑦.⓪.⓪.①/", invalid, invalid},
		{"dots that fold into dots", "https://127。0。0。1/", invalid, invalid},
		{"an escaped host", "https://%31%32%37.0.0.1/", invalid, invalid},
		{"a space", "https://hooks.example.com /", invalid, invalid},
		{"a line break", "https://hooks.example.com\r\nHost: x/", invalid, invalid},
		{"a backslash", `https://hooks.example.com\@127.0.0.1/`, invalid, invalid},

		{"loopback", "https://127.0.0.1/", forbidden, nil},
		{"loopback elsewhere in its block", "https://127.1.2.3/", forbidden, nil},
		{"loopback of version 6", "https://[::1]/", forbidden, nil},
		{"loopback of version 6, written out", "https://[0:0:0:0:0:0:0:1]/", forbidden, nil},
		{"loopback by name", "https://localhost/", forbidden, nil},
		{"loopback by name, with the root's dot", "https://LocalHost.:8443/", forbidden, nil},
		{"a name below loopback's", "https://a.localhost/", forbidden, nil},
		{"loopback in decimal", "https://2130706433/", invalid, invalid},
		{"loopback in hexadecimal", "https://0x7f000001/", invalid, invalid},
		{"loopback in upper hexadecimal", "https://0X7F.1/", invalid, invalid},
		{"loopback in octal", "https://0177.0.0.1/", invalid, invalid},
		{"loopback in octal, whole", "https://017700000001/", invalid, invalid},
		{"loopback in parts", "https://127.1/", invalid, invalid},
		{"loopback in a mixture", "https://127.0.0x0.1/", invalid, invalid},
		{"loopback with the root's dot", "https://127.0.0.1./", invalid, invalid},

		{"unspecified", "https://0.0.0.0/", forbidden, forbidden},
		{"unspecified of version 6", "https://[::]/", forbidden, forbidden},
		{"this network", "https://0.1.2.3/", forbidden, forbidden},
		{"private 10/8", "https://10.0.0.1/", forbidden, forbidden},
		{"private 172.16/12", "https://172.31.255.255/", forbidden, forbidden},
		{"private 192.168/16", "https://192.168.1.1/", forbidden, forbidden},
		{"shared by carriers", "https://100.64.0.1/", forbidden, forbidden},
		{"link-local", "https://169.254.1.1/", forbidden, forbidden},
		{"the metadata of an instance", "https://169.254.169.254/latest/meta-data/", forbidden, forbidden},
		{"the metadata of a container", "https://169.254.170.2/", forbidden, forbidden},
		{"the metadata of an instance, version 6", "https://[fd00:ec2::254]/", forbidden, forbidden},
		{"multicast", "https://224.0.0.1/", forbidden, forbidden},
		{"broadcast", "https://255.255.255.255/", forbidden, forbidden},
		{"documentation", "https://192.0.2.1/", forbidden, forbidden},
		{"benchmarking", "https://198.18.0.1/", forbidden, forbidden},
		{"link-local of version 6", "https://[fe80::1]/", forbidden, forbidden},
		{"link-local of version 6 with a zone", "https://[fe80::1%25eth0]/", forbidden, forbidden},
		{"loopback of version 6 with a zone", "https://[::1%25lo]/", forbidden, forbidden},
		{"unique local", "https://[fc00::1]/", forbidden, forbidden},
		{"multicast of version 6", "https://[ff02::1]/", forbidden, forbidden},
		{"documentation of version 6", "https://[2001:db8::1]/", forbidden, forbidden},
		{"loopback mapped into version 6", "https://[::ffff:127.0.0.1]/", forbidden, forbidden},
		{"loopback mapped into version 6, in hexadecimal", "https://[::ffff:7f00:1]/", forbidden, forbidden},
		{"loopback in the older embedding", "https://[::127.0.0.1]/", forbidden, forbidden},
		{"metadata mapped into version 6", "https://[::ffff:169.254.169.254]/", forbidden, forbidden},
		{"metadata through NAT64", "https://[64:ff9b::a9fe:a9fe]/", forbidden, forbidden},
		{"metadata through a local NAT64", "https://[64:ff9b:1::a9fe:a9fe]/", forbidden, forbidden},
		{"loopback through 6to4", "https://[2002:7f00:1::]/", forbidden, forbidden},
		{"loopback through Teredo", "https://[2001:0:0:0:0:0:80ff:fffe]/", forbidden, forbidden},

		{"a name without a dot", "https://intranet/", forbidden, forbidden},
		{"a name of the cloud's inside", "https://ip-10-0-0-1.ec2.internal/", forbidden, forbidden},
		{"the metadata by name", "https://metadata.google.internal/", forbidden, forbidden},
		{"a name of multicast DNS", "https://printer.local/", forbidden, forbidden},
		{"a name of home networks", "https://router.home.arpa/", forbidden, forbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := outbound.New(outbound.Options{}).Check(test.url); !errors.Is(err, test.want) {
				t.Errorf("%s: got %v, want %v", test.url, err, test.want)
			}
			if err := outbound.New(outbound.Options{AllowLoopback: true}).Check(test.url); !errors.Is(err, test.local) {
				t.Errorf("%s, loopback allowed: got %v, want %v", test.url, err, test.local)
			}
		})
	}
	t.Run("the error does not repeat an address that cannot be parsed", func(t *testing.T) {
		err := outbound.New(outbound.Options{}).Check("https://user:secret@host:port/")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	})
}
