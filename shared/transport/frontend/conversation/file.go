package conversation

import (
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/domain/content"
)

// IsBase64 reports whether a text is bytes in base64, of the alphabet of addresses or the
// usual one, with or without padding.
func IsBase64(text string) bool {
	return content.IsBase64(text) && (!strings.HasSuffix(text, "=") || len(text)%4 == 0)
}

// IsAddress reports whether a text is an absolute address. One of http or https has a
// host.
func IsAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || strings.ContainsAny(text, " \t\r\n") {
		return false
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return u.Hostname() != ""
	}
	return u.Opaque != "" || u.Host != "" || len(u.Path) > 1
}
