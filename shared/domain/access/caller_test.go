package access_test

import (
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/access"
)

func TestDecodeUser(t *testing.T) {
	for value, want := range map[string]string{
		"alice": "alice", "auth0%7C42": "auth0|42", "%C3%A4": "ä", "a%2Cb": "a,b", "a%20b": "a b", "a+b": "a+b", "a|b": "a|b",
		strings.Repeat("x", 256): strings.Repeat("x", 256),
		"":                       "", "%": "", "%zz": "", "a,b": "", "a b": "", "ä": "", "%FF": "", "%00": "", "a%0A": "", "%C2%85": "",
		strings.Repeat("x", 257): "", strings.Repeat("%F0%9F%98%80", 193): "",
	} {
		got, err := access.DecodeUser(value)
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%.20q: %q, %v; want %q", value, got, err, want)
		}
		if err == nil {
			c := access.Caller{UserID: got, Service: "backend"}
			if again, err := access.DecodeUser(c.Named()); err != nil || again != got {
				t.Errorf("%.20q is named %q, which is %q, %v", got, c.Named(), again, err)
			}
		}
	}
	for _, c := range []access.Caller{{UserID: "alice"}, {UserID: "backend", Service: "backend"}} {
		if c.Acts() || c.Named() != "" {
			t.Errorf("%+v acts for %q", c, c.Named())
		}
	}
}
